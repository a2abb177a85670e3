"""The pointer-generator with a pointer that has separate weights."""

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.text import WordTokenizer
from tests.numerics import additive, softmax
from tests.zoo.tiny_models import COPYING, make, thorough

NAMES = ["pointer_generator_gru", pytest.param("pointer_generator_lstm", marks=thorough)]
UNITS = 4


@pytest.mark.parametrize("name", NAMES)
def test_weights(name):
    shared, own = make(name), make(name, own_pointer=True)
    paths = {weight.path.partition("/")[2]: tuple(weight.shape) for weight in own.weights}
    for weight in shared.weights:
        assert paths.pop(weight.path.partition("/")[2]) == tuple(weight.shape)
    pointer = "pointer_generator/pointer"
    assert paths == {
        f"{pointer}/memory_projection/kernel": (2 * UNITS, UNITS),
        f"{pointer}/memory_projection/bias": (UNITS,),
        f"{pointer}/score/query_projection/kernel": (UNITS, UNITS),
        f"{pointer}/score/energy": (UNITS, 1),
    }


def test_what_it_points_at():
    """a_{t,i} = softmax_i(w^T tanh(W_x h_i + W_y s_t + b))."""
    model = make("pointer_generator_gru", own_pointer=True)
    annotations, mask, states = model.encoder(COPYING["source_ids"])
    annotations, mask = np.asarray(annotations), np.asarray(mask)
    decoder = model.decoder
    memory = decoder.project_memory(annotations, mask, COPYING["extended_source_ids"])
    first = decoder.initial_state(model.bridge(states), memory)
    readout_inputs, attended = decoder.decoder.run(COPYING["target_ids"], first, memory, False)
    state = np.asarray(readout_inputs[1])
    pointer = decoder.pointer
    scores = additive(pointer.score, state[:, :, None], annotations[:, None])
    expected = softmax(scores, mask[:, None])
    outputs = model(COPYING)
    np.testing.assert_allclose(outputs["pointer"], expected, atol=1e-5)
    assert np.abs(expected - np.asarray(attended)).max() > 0.05


def test_text(eagerly):
    tokenizer = WordTokenizer.train(["a b c", "b c d"], 8)
    model = zoo.pointer_generator_gru(tokenizer, embedding_dim=6, units=4, own_pointer=True)
    assert len(model.translate(["a b xyz"], max_length=5)) == 1

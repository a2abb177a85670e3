"""The pointer-generator with a pointer that has separate weights."""

import keras
import numpy as np
import pytest
from keras import tree

from kerasnmt import zoo
from kerasnmt.text import WordTokenizer
from tests.zoo.tiny_models import COPIED_TARGETS, COPYING, make

NAMES = ["pointer_generator_gru", "pointer_generator_lstm"]
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
    w_x, b = (np.asarray(weight) for weight in pointer.score.memory_projection.weights)
    w_y = np.asarray(pointer.score.query_projection.kernel)
    hidden = np.tanh((annotations @ w_x + b)[:, None] + (state @ w_y)[:, :, None])
    scores = np.where(mask[:, None], (hidden @ np.asarray(pointer.score.energy))[..., 0], -np.inf)
    expected = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected /= expected.sum(axis=-1, keepdims=True)
    outputs = model(COPYING)
    np.testing.assert_allclose(outputs["pointer"], expected, atol=1e-5)
    assert np.abs(expected - np.asarray(attended)).max() > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_training_search_saving_and_loading(name, tmp_path):
    model = make(name, own_pointer=True, coverage=0.1)
    before = [np.array(weight) for weight in model.decoder.pointer.weights]
    model.compile("adam", run_eagerly=True)
    losses = model.fit(COPYING, COPIED_TARGETS, epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0]
    for weight, earlier in zip(model.decoder.pointer.weights, before, strict=True):
        assert np.abs(np.array(weight) - earlier).max() > 0
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    tree.map_structure(np.testing.assert_array_equal, copy(COPYING), model(COPYING))
    sources = {key: COPYING[key] for key in ("source_ids", "extended_source_ids")}
    found, again = (one.search(sources, beam_size=2, max_length=4) for one in (model, copy))
    assert found.ids.shape == (3, 1, 4)
    np.testing.assert_array_equal(found.ids, again.ids)
    np.testing.assert_array_equal(found.scores, again.scores)


def test_text():
    tokenizer = WordTokenizer.train(["a b c", "b c d"], 8)
    model = zoo.pointer_generator_gru(tokenizer, embedding_dim=6, units=4, own_pointer=True)
    assert len(model.translate(["a b xyz"], max_length=5)) == 1

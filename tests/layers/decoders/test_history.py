"""Search with attention to earlier states, compared with whole targets in plain Python."""

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.ids import END_ID, START_ID
from tests.numerics import fill
from tests.zoo.tiny_models import make

LENGTH = 6
SOURCES = np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0], [8, 3, 0, 0, 0], [4, 7, 5, 3, 0]], "int32")


@pytest.fixture(scope="module")
def model():
    model = fill(make("history_attention_gru", target=9), seed=2, scale=1.2)
    bias = model.decoder.generator.bias.numpy()
    bias[END_ID] = 5.0  # some sequences end early
    model.decoder.generator.bias.assign(bias)
    return model


def python_beam(read, source, beam_size):
    """Return the best sequence and its log-probability. Each step reads the whole target."""

    def extended(sequence, score):
        following = read(source[None], np.array([[START_ID, *sequence]], "int32"))[0, -1].numpy()
        # Not padding and not the start token.
        return [((*sequence, i), score + following[i]) for i in (1, *range(3, 9))]

    beam = [((), 0.0)]
    for _ in range(LENGTH):
        ended = [one for one in beam if one[0][-1:] == (END_ID,)]
        longer = [more for one in beam if one not in ended for more in extended(*one)]
        longer.sort(key=lambda one: -one[1])
        beam = ended + longer[: beam_size - len(ended)]
    return max(beam, key=lambda one: one[1])


@pytest.mark.graph
@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.thorough("traces a search; tests/zoo shows the steps of this decoder")
def test_search_equals_whole_targets(model, beam_size):
    ids = tf.TensorSpec((None, None), tf.int32)
    # With a variable number of rows, finished rows are dropped with their histories.
    search = tf.function(
        lambda ids: model.search(ids, beam_size=beam_size, max_length=LENGTH, length_penalty=0.0),
        input_signature=[ids],
        autograph=False,
    )

    def log_probabilities(source_ids, target_ids):
        outputs = model({"source_ids": source_ids, "target_ids": target_ids})
        return model.decoder.next_log_probability(outputs)

    read = tf.function(log_probabilities, input_signature=[ids, ids], autograph=False)
    found = search(SOURCES)
    lengths = set()
    for row, source in enumerate(SOURCES):
        sequence, score = python_beam(read, source, beam_size)
        expected = np.pad(sequence, (0, LENGTH - len(sequence)))
        np.testing.assert_array_equal(found.ids[row, 0], expected)
        assert float(found.scores[row, 0]) == pytest.approx(score, abs=1e-4)
        lengths.add(len(sequence))
    assert len(lengths) > 1


def test_the_history_is_heard(model):
    """Without the history, the outputs differ."""
    inputs = {"source_ids": SOURCES, "target_ids": np.full((4, 4), 5, "int32")}
    before = model(inputs).numpy()
    kernel = model.decoder.cell.history_projection.kernel
    kept = kernel.numpy()
    kernel.assign(np.zeros_like(kept))
    changed = model(inputs).numpy()
    kernel.assign(kept)
    # The first word has no history.
    np.testing.assert_allclose(changed[:, 0], before[:, 0], atol=1e-6)
    assert np.abs(changed[:, 1:] - before[:, 1:]).max() > 1e-2

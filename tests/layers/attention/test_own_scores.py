"""User-defined scores, and scores by name."""

import functools

import keras
import numpy as np
import pytest
from keras import ops

from kerasnmt import layers
from tests.layers.decoders import tiny_decoders
from tests.numerics import softmax

rng = np.random.default_rng(0)
QUERY = rng.normal(size=(2, 3, 4)).astype("float32")
MEMORY = rng.normal(size=(2, 5, 4)).astype("float32")
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)


@keras.saving.register_keras_serializable("tests")
class NegativeDistance(layers.Score):
    """-|s - h_i|^2, the example in the docstring of `Score`."""

    def call(self, query, keys):
        query = ops.expand_dims(query, -2)
        if len(query.shape) == 4:
            keys = ops.expand_dims(keys, 1)
        return -ops.sum(ops.square(query - keys), axis=-1)


def test_a_score_with_call_alone():
    scores = -np.square(QUERY[:, :, None] - MEMORY[:, None]).sum(axis=-1)
    expected = softmax(scores, MASK[:, None])
    attention = layers.Attention(NegativeDistance())
    context, weights = attention(QUERY, values=MEMORY, memory_mask=MASK)
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    np.testing.assert_allclose(context, expected @ MEMORY, atol=1e-5)
    _, one = attention(QUERY[:, 1], attention.project(MEMORY), MEMORY, MASK)
    np.testing.assert_allclose(one, expected[:, 1], atol=1e-6)
    assert attention.count_params() == 0


def functional(score):
    query, memory = keras.Input((None, 4)), keras.Input((None, 4))
    context, _ = layers.Attention(score, name="attention")(query, values=memory)
    return keras.Model([query, memory], context)


@pytest.mark.parametrize("score", [NegativeDistance(), "general", "additive"])
def test_a_file_round_trip(score, tmp_path):
    model = functional(score)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded([QUERY, MEMORY]), model([QUERY, MEMORY]), atol=1e-6)
    attention = loaded.get_layer("attention")
    if isinstance(score, str):
        assert attention.get_config()["score"] == score
    else:
        assert type(attention.score) is type(score)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("additive", layers.AdditiveScore),
        ("cosine", layers.CosineScore),
        ("dot", layers.DotScore),
        ("general", layers.GeneralScore),
        ("location", layers.LocationScore),
        ("scaled_dot", layers.ScaledDotScore),
    ],
)
def test_scores_by_name(name, kind):
    attention = layers.Attention(name)
    _, weights = attention(QUERY, values=MEMORY, memory_mask=MASK)
    assert type(attention.score) is kind
    np.testing.assert_allclose(np.sum(weights, axis=-1), 1.0, rtol=1e-6)
    assert attention.get_config()["score"] == name


def test_a_named_score_has_the_size_of_the_query():
    attention = layers.Attention("general")
    wide = np.concatenate([MEMORY, MEMORY], axis=-1)
    attention(QUERY, values=wide)
    assert attention.score.memory_projection.kernel.shape == (8, 4)
    again = layers.Attention.from_config(attention.get_config())
    assert again.score == "general"


@pytest.mark.parametrize("score", ["dot", "general", "additive", "location"])
def test_a_query_of_another_size_says_what_fits(score):
    attention = layers.Attention(score)
    attention(QUERY, values=MEMORY)
    message = r"Expected queries of 4 features, like the first one\. Received: .*\(2, 3, 6\)"
    with pytest.raises(ValueError, match=message):
        attention(np.ones((2, 3, 6), "float32"), values=MEMORY)


def test_a_score_without_call():
    with pytest.raises(NotImplementedError, match=r"Score needs a method `call\(query, keys\)`"):
        layers.Attention(layers.Score())(QUERY, values=MEMORY)


def test_a_named_score_in_a_decoder():
    gru, named = layers.GRUCell, functools.partial(layers.Attention, "general")
    luong = layers.LuongDecoderCell(gru(4), named())
    of_context = layers.ContextDecoderCell(gru(4), named(), named())
    of_history = layers.HistoryDecoderCell(gru(4), named(), named())
    for cell in (luong, of_context, of_history):
        cell.build((None, 3), (None, None, 6))
        assert cell.attention.score.memory_projection.kernel.shape == (6, 4)
    assert of_context.context_attention.score.memory_projection.kernel.shape == (6, 4)
    assert of_history.history_attention.score.memory_projection.kernel.shape == (4, 4)
    decoder = tiny_decoders.bahdanau()
    pointing = layers.PointerGeneratorDecoder(decoder, layers.SigmoidGate(), named())
    pointing.build((None, None, 6))
    assert pointing.pointer.score.memory_projection.kernel.shape == (6, 4)

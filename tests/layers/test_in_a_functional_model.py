"""The layers in a functional model, without the rest of the library."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasnmt import layers

pytestmark = pytest.mark.usefixtures("eagerly")

IDS = np.array([[4, 5, 6, 3], [7, 3, 0, 0]], "int32")
ATTENTIONS = {
    "general": lambda: layers.Attention(layers.GeneralScore(6)),
    "bahdanau": lambda: layers.BahdanauAttention(5),
    "location": lambda: layers.Attention(layers.LocationScore(10)),
    "local-p": lambda: layers.Attention(layers.DotScore(), layers.LocalPredictiveWindow(4, 2)),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough("another score shows it")] if number else [])
        for number, name in enumerate(ATTENTIONS)
    ],
)
def test_attention_in_place_of_pooling(name, tmp_path):
    ids = keras.Input((None,), dtype="int32")
    mask = ops.not_equal(ids, 0)
    words = keras.layers.Embedding(9, 3)(ids)
    memory = keras.layers.Bidirectional(keras.layers.GRU(3, return_sequences=True))(
        words, mask=mask
    )
    query = keras.layers.GRU(6)(words, mask=mask)
    attention = ATTENTIONS[name]()
    keys = attention.project(memory)
    context, weights = attention(query, keys, values=memory, memory_mask=mask)
    label = keras.layers.Dense(2, activation="softmax")(context)
    model, classifier = keras.Model(ids, [label, weights]), keras.Model(ids, label)
    classifier.compile("adam", loss="sparse_categorical_crossentropy", run_eagerly=True)
    history = classifier.fit(IDS, np.array([0, 1]), epochs=3, verbose=0).history["loss"]
    assert np.isfinite(history).all() and history[-1] < history[0]
    label, weights = model.predict(IDS, verbose=0)
    assert weights.shape == (2, 4) and not weights[1, 2:].any()
    if name != "local-p":
        np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    for one, other in zip(copy.predict(IDS, verbose=0), (label, weights), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_encoder_and_attention_for_several_queries():
    ids, queries = keras.Input((None,), dtype="int32"), keras.Input((None, 4))
    encoder = layers.RecurrentEncoder(
        keras.layers.Embedding(9, 3), [layers.BidirectionalLayer(layers.LSTMCell(2))]
    )
    memory, mask, _ = encoder(ids)
    context, weights = layers.Attention(layers.DotScore())(queries, values=memory, memory_mask=mask)
    model = keras.Model([ids, queries], [context, weights])
    context, weights = model.predict([IDS, np.ones((2, 5, 4), "float32")], verbose=0)
    assert context.shape == (2, 5, 4) and weights.shape == (2, 5, 4)
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)
    assert not weights[1, :, 2:].any()


def test_bidirectional_layer_without_a_mask():
    words = keras.Input((None, 3))
    outputs, [[forward], [backward]] = layers.BidirectionalLayer(layers.GRUCell(2))(words)
    model = keras.Model(words, [outputs, forward, backward])
    outputs, forward, backward = model.predict(np.ones((2, 5, 3), "float32"), verbose=0)
    np.testing.assert_allclose(outputs[:, -1, :2], forward, rtol=1e-6)
    np.testing.assert_allclose(outputs[:, 0, 2:], backward, rtol=1e-6)


def test_what_a_window_and_coverage_have_to_know():
    memory, one, several = np.ones((2, 5, 4)), np.ones((2, 4)), np.ones((2, 3, 4))
    monotonic = layers.Attention(layers.DotScore(), layers.LocalMonotonicWindow(1))
    _, weights = monotonic(several, values=memory)  # the queries are counted
    expected = [[1 / 2, 1 / 2, 0, 0, 0], [1 / 3] * 3 + [0, 0], [0, 1 / 3, 1 / 3, 1 / 3, 0]]
    np.testing.assert_allclose(weights[0], expected, rtol=1e-6)
    with pytest.raises(ValueError, match=r"Expected position.*Received: position=None"):
        monotonic(one, values=memory)
    covered = layers.Attention(layers.DotScore(), coverage=layers.Coverage())
    with pytest.raises(ValueError, match=r"Expected coverage.*initial_history"):
        covered(one, values=memory)
    history = covered.initial_history(np.ones((2, 5), bool))
    _, weights = covered(one, values=memory, **history)
    np.testing.assert_allclose(weights, 1 / 5, rtol=1e-6)
    with pytest.raises(
        ValueError, match=r"Expected values.*Call attention\(query, values=memory\)"
    ):
        layers.Attention(layers.DotScore())(one, memory)


def test_recurrent_cell_in_a_loop_of_keras():
    inputs = keras.Input((None, 6))
    outputs = keras.layers.RNN(
        layers.StackedCell([layers.SimpleRNNCell(6), layers.GRUCell(4)]), return_sequences=True
    )(inputs)
    model = keras.Model(inputs, outputs)
    assert model.predict(np.ones((2, 3, 6), "float32"), verbose=0).shape == (2, 3, 4)

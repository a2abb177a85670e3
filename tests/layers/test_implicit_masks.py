"""The implicit masks of Keras layers, in a user-defined model."""

import warnings

import keras
import numpy as np
import pytest
from keras import ops

from kerasnmt import layers

IDS = np.array([[3, 4, 0, 0, 0], [5, 3, 6, 4, 0]], "int32")
QUERY_IDS = np.array([[3, 7, 4], [5, 0, 0]], "int32")
MASK, QUERY_MASK = IDS != 0, QUERY_IDS != 0
ATTENTIONS = {
    "additive": lambda: layers.BahdanauAttention(5),
    "cosine": lambda: layers.Attention(layers.CosineScore()),
    "dense": lambda: layers.Attention(layers.TimeDistributedDenseScorer(5)),
    "dot": lambda: layers.Attention(layers.DotScore()),
    "general": lambda: layers.Attention(layers.GeneralScore(4)),
    "location": lambda: layers.Attention(layers.LocationScore(9)),
    "monotonic": lambda: layers.Attention(layers.DotScore(), layers.LocalMonotonicWindow(2)),
    "predictive": lambda: layers.Attention(layers.DotScore(), layers.LocalPredictiveWindow(4, 2)),
    "scaled": lambda: layers.Attention(layers.ScaledDotScore()),
}


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.fixture
def embedding():
    return keras.layers.Embedding(9, 4, mask_zero=True)


def mask_of(tensor):
    return getattr(tensor, "_keras_mask", None)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_padding_gets_no_weight(embedding, name):
    attention = ATTENTIONS[name]()
    query, values = embedding(QUERY_IDS), embedding(IDS)
    context, weights = attention(query, values=values)
    assert not weights.numpy()[~np.broadcast_to(MASK[:, None], (2, 3, 5))].any()
    plain = [ops.convert_to_tensor(tensor.numpy()) for tensor in (query, values)]
    expected = attention(plain[0], values=plain[1], memory_mask=MASK)
    np.testing.assert_array_equal(context, expected[0])
    np.testing.assert_array_equal(weights, expected[1])
    # The context has the query's axis, and so its mask.
    np.testing.assert_array_equal(mask_of(context), QUERY_MASK)


def test_one_query_a_source(embedding):
    query = np.ones((2, 4), "float32")
    context, weights = layers.Attention(layers.DotScore())(query, values=embedding(IDS))
    assert (weights.numpy() > 0).tolist() == MASK.tolist()
    assert mask_of(context) is None


def test_a_mask_that_is_given_comes_first(embedding):
    given = np.array([[True] * 5, [False, True, True, True, True]])
    attention = layers.Attention(layers.DotScore())
    _, weights = attention(embedding(QUERY_IDS), values=embedding(IDS), memory_mask=given)
    assert ((weights.numpy() > 0) == given[:, None]).all()


def test_several_heads(embedding):
    attention = layers.MultiHeadAttention(4, 2)
    context, weights = attention(embedding(QUERY_IDS), embedding(IDS))
    assert ((weights.numpy() > 0) == MASK[:, None, None]).all()
    np.testing.assert_array_equal(mask_of(context), QUERY_MASK)
    context, weights = layers.MultiHeadSelfAttention(4, 2)(embedding(IDS))
    assert ((weights.numpy() > 0) == MASK[:, None, None]).all()
    np.testing.assert_array_equal(mask_of(context), MASK)


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.BidirectionalLayer(layers.GRUCell(3)),
        lambda: layers.ForwardLayer(layers.LSTMCell(3)),
        lambda: layers.BackwardLayer(layers.GRUCell(3)),
    ],
    ids=["bidirectional", "forward", "backward"],
)
def test_layers_of_an_encoder(embedding, make):
    layer = make()
    outputs, states = layer(embedding(IDS))
    plain = ops.convert_to_tensor(embedding(IDS).numpy())
    expected, expected_states = layer(plain, source_mask=MASK)
    keras.tree.map_structure(np.testing.assert_array_equal, states, expected_states)
    np.testing.assert_array_equal(outputs, expected)
    np.testing.assert_array_equal(mask_of(outputs), MASK)


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.SinusoidalPositions(),
        lambda: layers.LearnedPositions(5),
        lambda: layers.FeedForward(5, 4),
        lambda: layers.SSRU(4),
        lambda: layers.AverageAttention(layers.FeedForward(5, 4)),
        lambda: layers.VocabularyProjection(7),
    ],
    ids=["sinusoidal", "learned", "feed_forward", "ssru", "average", "vocabulary"],
)
def test_layers_of_single_words_keep_the_mask(embedding, make):
    outputs = make()(embedding(IDS))
    if isinstance(outputs, tuple):
        outputs, _ = outputs
    np.testing.assert_array_equal(mask_of(outputs), MASK)


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.MultiHeadSelfAttention(4, 2, causal=True),
        lambda: layers.SSRU(4),
        lambda: layers.AverageAttention(layers.FeedForward(5, 4)),
    ],
    ids=["heads", "ssru", "average"],
)
def test_padding_before_and_within_a_text_changes_no_word(embedding, make):
    layer, ids = make(), np.array([[5, 3, 6, 4]], "int32")
    outputs, _ = layer(embedding(np.insert(ids, [0, 0, 2], 0, axis=1)))
    kept = outputs.numpy()[:, [2, 3, 5, 6]]
    np.testing.assert_allclose(kept, layer(embedding(ids))[0], atol=1e-6)


def test_a_layer_of_a_transformer(embedding):
    layer = layers.TransformerEncoderLayer(
        layers.MultiHeadSelfAttention(4, 2),
        layers.FeedForward(5, 4),
        [layers.PreNorm(0.0), layers.PreNorm(0.0)],
    )
    outputs = layer(embedding(IDS))
    plain = ops.convert_to_tensor(embedding(IDS).numpy())
    np.testing.assert_array_equal(outputs, layer(plain, source_mask=MASK))
    np.testing.assert_array_equal(mask_of(outputs), MASK)


def functional():
    ids, query_ids = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    embedding = keras.layers.Embedding(9, 4, mask_zero=True, name="embedding")
    attention = layers.BahdanauAttention(5, name="attention")
    return keras.Model([query_ids, ids], attention(embedding(query_ids), values=embedding(ids)))


@keras.saving.register_keras_serializable("test_implicit_masks")
class Subclass(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embedding = keras.layers.Embedding(9, 4, mask_zero=True)
        self.attention = layers.BahdanauAttention(5)

    def call(self, inputs):
        query_ids, ids = inputs
        return self.attention(self.embedding(query_ids), values=self.embedding(ids))


@pytest.mark.parametrize("make", [functional, Subclass])
def test_a_model_and_its_file(make, tmp_path):
    model = make()
    context, weights = model([QUERY_IDS, IDS])
    assert ((weights.numpy() > 0) == MASK[:, None]).all()
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    for one, other in zip(copy([QUERY_IDS, IDS]), (context, weights), strict=True):
        np.testing.assert_array_equal(one, other)

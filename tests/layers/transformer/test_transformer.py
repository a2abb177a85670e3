"""The layers of a Transformer, compared with the equations of the paper in NumPy."""

import keras
import numpy as np
import pytest

from kerasnmt import layers
from tests.layers.transformer.test_multi_head_attention import transcription
from tests.numerics import fill

UNITS, HIDDEN, MEMORY_UNITS, SOURCE, TARGET, VOCABULARY = 4, 5, 6, 5, 3, 9
MASK = np.arange(SOURCE) < np.array([[5], [3]])
NORMS = pytest.mark.parametrize("norm", [layers.PreNorm, layers.PostNorm])


def encoder_layers(norm, count=1, dropout=0.0):
    return [
        layers.TransformerEncoderLayer(
            layers.MultiHeadSelfAttention(UNITS, 2),
            layers.FeedForward(HIDDEN, UNITS),
            [norm(dropout) for _ in range(2)],
        )
        for _ in range(count)
    ]


def decoder_layers(norm, count=1, dropout=0.0):
    return [
        layers.TransformerDecoderLayer(
            layers.MultiHeadSelfAttention(UNITS, 2, causal=True),
            layers.MultiHeadAttention(UNITS, 2),
            layers.FeedForward(HIDDEN, UNITS),
            [norm(dropout) for _ in range(3)],
        )
        for _ in range(count)
    ]


def layer_norm(layer, x):
    gamma, beta = layer.normalization.get_weights()
    x = x - x.mean(-1, keepdims=True)
    return gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) + beta


def around(residual, x, sublayer):
    """Pre-norm: x + f(LN(x)); post-norm: LN(x + f(x))."""
    if isinstance(residual, layers.PreNorm):
        return x + sublayer(layer_norm(residual, x))
    return layer_norm(residual, x + sublayer(x))


def feed_forward(layer, x):
    w_1, b_1, w_2, b_2 = layer.get_weights()
    return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2


@NORMS
def test_encoder_layer_equals_the_transcription(norm):
    (layer,) = encoder_layers(norm)
    words = np.random.default_rng(1).normal(size=(2, SOURCE, UNITS)).astype("float32")
    layer(words)
    fill(layer)
    received = layer(words, source_mask=MASK)
    for row in range(2):
        mask = np.tile(MASK[row], (SOURCE, 1))

        def attend(x, mask=mask):
            return transcription(layer.attention, x, x, mask)[0]

        x = around(layer.residuals[0], words[row], attend)
        x = around(layer.residuals[1], x, lambda x: feed_forward(layer.feed_forward, x))
        np.testing.assert_allclose(received[row], x, atol=1e-5)


@NORMS
def test_decoder_layer_equals_the_transcription(norm):
    (layer,) = decoder_layers(norm)
    rng = np.random.default_rng(1)
    words = rng.normal(size=(2, TARGET, UNITS)).astype("float32")
    memory = rng.normal(size=(2, SOURCE, MEMORY_UNITS)).astype("float32")
    layer.build(words.shape, memory.shape)
    fill(layer)
    received, weights = layer(words, layer.project_memory(memory), MASK)
    causal = np.tril(np.ones((TARGET, TARGET), bool))
    for row in range(2):
        looked = []

        def ask(x, row=row, looked=looked):
            mask = np.tile(MASK[row], (TARGET, 1))
            context, found = transcription(layer.cross_attention, x, memory[row], mask)
            looked.append(found)
            return context

        x = around(
            layer.residuals[0],
            words[row],
            lambda x: transcription(layer.self_attention, x, x, causal)[0],
        )
        x = around(layer.residuals[1], x, ask)
        x = around(layer.residuals[2], x, lambda x: feed_forward(layer.feed_forward, x))
        np.testing.assert_allclose(received[row], x, atol=1e-5)
        np.testing.assert_allclose(weights[row], looked[0], atol=1e-6)


def make_encoder(embedding=True, **options):
    encoder = layers.TransformerEncoder(
        keras.layers.Embedding(VOCABULARY, UNITS) if embedding else None,
        layers.SinusoidalPositions(),
        encoder_layers(layers.PreNorm, 2),
        keras.layers.LayerNormalization(),
        **options,
    )
    encoder.build((None, None), *([] if embedding else [(None, None, UNITS)]))
    return fill(encoder)


def test_encoder():
    encoder = make_encoder()
    ids = np.array([[5, 6, 4, 3], [7, 3, 0, 0]], "int32")
    memory, mask, [[[mean]]] = encoder(ids)
    np.testing.assert_array_equal(mask, ids != 0)
    np.testing.assert_allclose(mean[1], np.mean(memory[1, :2], axis=0), atol=1e-6)
    # Words are scaled by the root of their size, 2, before the positions are added.
    x = 2 * encoder.embedding.embeddings.numpy()[ids[:1]]
    x = layers.SinusoidalPositions()(x)
    for layer in encoder.layers:
        x = layer(x)
    np.testing.assert_allclose(memory[0], encoder.normalization(x)[0], atol=1e-6)
    # A single sentence, without padding, gives the same result.
    alone, *_ = encoder(ids[1:, :2])
    np.testing.assert_allclose(alone[0], memory[1, :2], atol=1e-5)


def test_encoder_of_embedded_words():
    ids = np.array([[5, 6, 4, 3]], "int32")
    with pytest.raises(ValueError, match="an embedding, or embedded words"):
        make_encoder()(ids, embedded=np.ones((1, 4, UNITS)))
    with pytest.raises(ValueError, match="an embedding, or embedded words"):
        make_encoder(embedding=False)(ids)


def make_decoder(count=3, dropout=0.0, positions=None):
    decoder = layers.TransformerDecoder(
        keras.layers.Embedding(VOCABULARY, UNITS),
        positions or layers.SinusoidalPositions(),
        decoder_layers(layers.PreNorm, count),
        layers.TiedVocabularyProjection(VOCABULARY),
        keras.layers.LayerNormalization(),
        dropout=dropout,
    )
    decoder.build((None, None, MEMORY_UNITS))
    return fill(decoder)


TARGET_IDS = np.array([[2, 5, 8, 6], [2, 4, 7, 0]], "int32")


@pytest.fixture
def source():
    memory = np.random.default_rng(2).normal(size=(2, SOURCE, MEMORY_UNITS)).astype("float32")
    return memory, MASK


@pytest.mark.parametrize(("count", "recorded"), [(1, 0), (2, 0), (3, 1)])
def test_the_last_layer_but_one_is_recorded(count, recorded, source):
    decoder = make_decoder(count=count)
    memory = decoder.project_memory(*source)
    _, records = decoder(TARGET_IDS, [], memory)
    heads = decoder.attend_by_head(TARGET_IDS, memory)
    assert heads.shape == (2, count, 2, 4, SOURCE)
    np.testing.assert_allclose(records["weights"], np.mean(heads[:, recorded], axis=1), atol=1e-6)
    np.testing.assert_allclose(np.sum(heads, axis=-1), 1.0, rtol=1e-5)
    assert not np.any(heads[1, ..., 3:])


def test_no_room_for_steps(source):
    decoder = make_decoder()
    memory = decoder.project_memory(*source)
    assert decoder.initial_state([], memory) == []
    with pytest.raises(ValueError, match=r"Expected a state with room.*steps=100"):
        decoder.step(TARGET_IDS[:, :1], [], memory)


def test_more_steps_than_positions(source):
    decoder = make_decoder(positions=layers.LearnedPositions(6))
    memory = decoder.project_memory(*source)
    assert decoder.initial_state([], memory, steps=6).cache.room == 6
    with pytest.raises(ValueError, match=r"Expected at most 6 words.*Received: 7 words"):
        decoder.initial_state([], memory, steps=7)


def test_dropout_in_training_only(source):
    decoder = make_decoder(dropout=0.5)
    memory = decoder.project_memory(*source)
    plain, _ = decoder(TARGET_IDS, [], memory)
    np.testing.assert_array_equal(decoder(TARGET_IDS, [], memory)[0], plain)
    dropped, _ = decoder(TARGET_IDS, [], memory, training=True)
    assert np.abs(dropped - plain).max() > 1e-2
    (layer,) = encoder_layers(layers.PostNorm, dropout=0.5)
    words = np.ones((1, 3, UNITS), "float32")
    one, other = layer(words), layer(words, training=True)
    assert np.abs(one - other).max() > 1e-2


@NORMS
def test_the_way_around_drops_features_in_training_only(norm):
    residual = norm(0.5)
    inputs, outputs = (np.ones((2, 3, UNITS), "float32") * n for n in (1, 2))
    residual.before(inputs)
    plain = residual.after(inputs, outputs)
    np.testing.assert_array_equal(plain, residual.after(inputs, outputs, training=False))
    if norm is layers.PreNorm:
        np.testing.assert_array_equal(plain, inputs + outputs)
        dropped = np.asarray(residual.after(inputs, outputs, training=True))
        assert {*np.unique(dropped)} == {1.0, 5.0}  # 2 becomes 0, or twice as large

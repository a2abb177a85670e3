"""One decoder of each kind, on tiny sizes, and what it is fed."""

import keras
import numpy as np
from keras import ops

from kerasnmt import layers
from tests.numerics import fill

V, EMBEDDING, UNITS, MEMORY = 7, 4, 4, 6
# Two rows, the second with three positions of padding. Ids 7, 8 and 9 are outside the vocabulary;
# words 5 and 7 of the first row stand there twice.
SOURCE_IDS = np.array([[5, 7, 5, 8, 7, 3], [9, 4, 3, 0, 0, 0]], "int32")
TARGET_IDS = np.array([[2, 5, 1, 6], [2, 1, 4, 0]], "int32")
TARGETS = np.array([[5, 7, 6, 3], [9, 4, 3, 0]], "int32")


def recurrent(cell, readout=None):
    return layers.RecurrentDecoder(
        keras.layers.Embedding(V, EMBEDDING),
        cell,
        readout or layers.MaxoutReadout(5),
        layers.VocabularyProjection(V),
        dropout=0.5,  # in training only
    )


def bahdanau(coverage=None):
    attention = layers.BahdanauAttention(5, coverage)
    return recurrent(layers.BahdanauDecoderCell(layers.GRUCell(UNITS), attention))


def without_attention():
    cell = layers.FirstStateDecoderCell(layers.GRUCell(UNITS))
    return recurrent(cell, layers.StateReadout())


def fused(layer, cell, *attention):
    cell = cell(layers.FusedCell(layer(UNITS, return_sequences=True)), *attention)
    return recurrent(cell, layers.AttentionalReadout(5))


def general():
    return layers.Attention(layers.GeneralScore(UNITS))


def hard(alignment, readout=None):
    return layers.HardAttentionDecoder(
        keras.layers.Embedding(V, EMBEDDING),
        layers.FirstStateDecoderCell(layers.LSTMCell(UNITS)),
        alignment,
        readout or layers.AttentionalReadout(5),
        layers.VocabularyProjection(V),
        dropout=0.5,  # in training only
    )


def transformer(norm):
    layer = layers.TransformerDecoderLayer(
        layers.MultiHeadSelfAttention(UNITS, 2, causal=True),
        layers.MultiHeadAttention(UNITS, 2),
        layers.FeedForward(5, UNITS),
        [norm(0.0) for _ in range(3)],
    )
    return layers.TransformerDecoder(
        keras.layers.Embedding(V, EMBEDDING),
        layers.SinusoidalPositions(),
        [layer],
        layers.TiedVocabularyProjection(V),
        keras.layers.LayerNormalization() if norm is layers.PreNorm else None,
    )


POINTERS = {
    "shared, softmax": lambda: layers.PointerGeneratorDecoder(bahdanau(), layers.SoftmaxGate()),
    "shared, sigmoid, coverage": lambda: layers.PointerGeneratorDecoder(
        bahdanau(layers.Coverage(0.5)), layers.SigmoidGate()
    ),
    "own pointer": lambda: layers.PointerGeneratorDecoder(
        bahdanau(), layers.SigmoidGate(), layers.BahdanauAttention(5)
    ),
    "no attention but the pointer": lambda: layers.PointerGeneratorDecoder(
        without_attention(), layers.SoftmaxGate(), general()
    ),
    "pointer network": lambda: layers.PointerDecoder(
        keras.layers.Embedding(V, EMBEDDING),
        layers.LuongDecoderCell(layers.LSTMCell(UNITS), layers.BahdanauAttention(5)),
    ),
}
DECODERS = {
    **POINTERS,
    "bahdanau": bahdanau,
    "fused lstm, luong": lambda: fused(keras.layers.LSTM, layers.LuongDecoderCell, general()),
    "fused gru": lambda: fused(keras.layers.GRU, layers.FirstStateDecoderCell),
    "fused simple, bahdanau": lambda: fused(
        keras.layers.SimpleRNN, layers.BahdanauDecoderCell, general()
    ),
    "fused lstm, feeding": lambda: fused(
        keras.layers.LSTM, layers.InputFeedingDecoderCell, general()
    ),
    "hard, independent": lambda: hard(layers.IndependentAlignment(layers.GeneralScore(UNITS))),
    "hard, monotonic": lambda: hard(
        layers.MonotonicAlignment(layers.AdditiveScore(5)), layers.MaxoutReadout(5)
    ),
    "hard, jumps": lambda: hard(layers.JumpAlignment(2)),
    "transformer, pre-norm": lambda: transformer(layers.PreNorm),
    "transformer, post-norm": lambda: transformer(layers.PostNorm),
}


def make(name):
    decoder = DECODERS[name]()
    decoder.build((None, None, MEMORY))
    return fill(decoder, seed=1)


def given(decoder, source_ids=SOURCE_IDS, rows=slice(None)):
    """Return the first states and the memory of the rows."""
    rng = np.random.default_rng(2)
    memory = rng.normal(size=(2, 6, MEMORY)).astype("float32")
    states = rng.normal(size=(2, 2, UNITS)).astype("float32")
    length = source_ids.shape[1]
    memory = np.pad(memory, ((0, 0), (0, max(0, length - 6)), (0, 0)), constant_values=3.0)
    ids = [source_ids] if decoder.copies else []
    memory = decoder.project_memory(
        *(ops.convert_to_tensor(one[rows]) for one in (memory[:, :length], source_ids != 0, *ids))
    )
    recurrent = decoder.decoder if hasattr(decoder, "gate") else decoder
    count = len(recurrent.cell.cell.state_size) if hasattr(recurrent, "cell") else 0
    first = [ops.convert_to_tensor(state[rows]) for state in states[:count]]
    return decoder.initial_state(first, memory, steps=TARGET_IDS.shape[1]), memory

"""Arguments of layers that do not fit."""

import keras
import numpy as np
import pytest

from kerasnmt import layers
from tests.layers.decoders import tiny_decoders

QUERY, MEMORY = np.ones((2, 3, 4), "float32"), np.ones((2, 5, 4), "float32")
NO_MEMORY = r"Expected a memory, or its keys and values\. Received"
NO_HEADS = r"multiple of num_heads.*Received: units=6, num_heads="
SIZES = r"multiplies them\. Received: query_shape=\(None, 3\), keys_shape=\(None, None, 4\).*Gener"
HEADS = layers.MultiHeadAttention, layers.MultiHeadSelfAttention
MEMORIES = layers.AdjacentMemories, layers.LayerwiseMemories
PRODUCTS = layers.DotScore, layers.ScaledDotScore, layers.CosineScore


def covering():
    return layers.Attention("dot", coverage=layers.Coverage())


def pointing(pointer=None):
    decoder = tiny_decoders.bahdanau() if pointer else tiny_decoders.without_attention()
    return layers.PointerGeneratorDecoder(decoder, layers.SoftmaxGate(), pointer)


def projected_heads(**options):
    attention = layers.MultiHeadAttention(4, 2)
    keys, values = attention.project(MEMORY)
    return attention(QUERY, keys=keys, values=values, **options)


def backbone(shape, layer):
    return lambda: layers.ImageEncoder(keras.Sequential([keras.Input(shape), layer]))


def fused(layer, **options):
    return lambda: layers.FusedCell(layer(4, return_sequences=bool(options), **options))


ERRORS = [
    # Scores and attention.
    (lambda: layers.Attention("generel"), r"^unknown score 'generel'; did you mean 'general'\?$"),
    (
        lambda: layers.Attention("general").project(MEMORY),
        r"Expected a built attention.*Received: score='general'\. Call",
    ),
    *(
        (lambda score=score: layers.Attention(score), r"Expected a score or its name\. Received: s")
        for score in ([QUERY, MEMORY], 3, None)
    ),
    *(
        (
            lambda inputs=inputs: layers.Attention("dot")(inputs),
            r"Expected a query and values.*Call attention\(query, values=memory\)",
        )
        for inputs in ([QUERY, MEMORY], QUERY)
    ),
    *((lambda score=score: score().build((None, 3), (None, None, 4)), SIZES) for score in PRODUCTS),
    (
        lambda: layers.GeneralScore(3).build((None, 4), (None, None, 3)),
        r"GeneralScore multiplies.*Set the units of GeneralScore to the size of the query\.",
    ),
    (lambda: layers.LocalMonotonicWindow(0), r"at least 1 word\. Received: width=0"),
    (lambda: layers.LocalPredictiveWindow(3, 0), r"at least 1 word\. Received: width=0"),
    *(
        (lambda kind=kind, heads=heads: kind(6, heads), NO_HEADS + str(heads))
        for kind in HEADS
        for heads in (4, 0, -2)
    ),
    (lambda: layers.MultiHeadAttention(4, 2)(QUERY), NO_MEMORY),
    (lambda: layers.MultiHeadAttention(4, 2)(QUERY, keys=MEMORY), NO_MEMORY),
    (
        lambda: layers.MultiHeadAttention(4, 2)(QUERY, MEMORY, keys=MEMORY, values=MEMORY),
        NO_MEMORY + r": \['memory', 'keys', 'values'\]",
    ),
    (
        lambda: projected_heads(memory_mask=np.ones((2, 1), bool)),
        r"Received: .*memory of shape \(2, 5, 4\), a mask of shape \(2, 1\)",
    ),
    (lambda: layers.DoublyStochastic(-1), r"Expected loss_weight >= 0. Received: loss_weight=-1"),
    # Cells and encoders.
    *(
        (
            lambda rate=rate: layers.ForwardLayer(layers.GRUCell(4), state_dropout=rate),
            rf"0 <= state_dropout < 1; .*state_dropout={rate}",
        )
        for rate in (-0.1, 1.0, 20)
    ),
    *(
        (lambda rate=rate: layers.ByteDropout(rate), rf"0 <= dropout < 1.*dropout={rate}")
        for rate in (-0.1, 1.0)
    ),
    *(
        (
            lambda make=make: make(keras.layers.GRUCell(4)),
            r"takes projected inputs\. Received: cell=<",
        )
        for make in (
            layers.ForwardLayer,
            layers.BidirectionalLayer,
            layers.UpperLayer,
            lambda cell: layers.StackedCell([layers.GRUCell(4), cell]),
            lambda cell: layers.TransitionCell([layers.GRUCell(4), cell]),
        )
    ),
    *(
        (
            lambda cell=cell: keras.layers.RNN(cell)(QUERY),
            rf"Expected projected inputs of {cell.input_size} features.*shape \(2, 4\)",
        )
        for cell in (
            layers.SimpleRNNCell(3),
            layers.GRUCell(4),
            layers.NormalizedGRUCell(4),
            layers.LSTMCell(4),
            layers.StackedCell([layers.GRUCell(4)]),
            layers.TransitionCell([layers.GRUCell(4)]),
        )
    ),
    (lambda: layers.StackedCell([]), r"at least one recurrent cell. Received: cells=\[\]"),
    (
        lambda: layers.RecurrentEncoder(keras.layers.Embedding(9, 4), []),
        r"at least one recurrent layer. Received: layers=\[\]",
    ),
    (fused(keras.layers.LSTM), r"Received: return_sequences=False, return_state=False"),
    (
        fused(keras.layers.GRU, return_state=True),
        r"Received: return_sequences=True, return_state=True",
    ),
    (fused(keras.layers.LSTM, go_backwards=True), r"return_state=False, go_backwards=True"),
    (
        backbone((None, None, 3), keras.layers.Conv2D(2, 1)),
        r"Received: shapes \(None, None, None, 3\) and",
    ),
    (
        backbone((4, 4, 3), keras.layers.GlobalAveragePooling2D()),
        r"and \(None, 3\)\. Create it with input_shape",
    ),
    # Decoders.
    (
        lambda: layers.LuongDecoderCell(layers.GRUCell(4), covering()),
        "Expected an attention whose weights do not depend on those of earlier words",
    ),
    (
        lambda: layers.HistoryDecoderCell(
            layers.GRUCell(4), layers.BahdanauAttention(4), covering()
        ),
        r"Received: one with history=\('coverage',\)",
    ),
    (
        lambda: layers.HistoryDecoderCell(
            layers.GRUCell(4),
            layers.BahdanauAttention(4),
            layers.BahdanauAttention(4, penalty=layers.DoublyStochastic()),
        ),
        r"Expected a history_attention .* without a penalty .*penalty=<DoublyStochastic",
    ),
    (pointing, "Expected a pointer, because the decoder has no attention"),
    (lambda: pointing(covering()), "Expected a pointer without coverage.*'coverage'"),
    (
        lambda: layers.PointerDecoder(
            keras.layers.Embedding(9, 3), layers.FirstStateDecoderCell(layers.GRUCell(4))
        ),
        "Expected a cell with attention",
    ),
    (
        lambda: layers.TiedVocabularyProjection(7).build((None, 4), (7, 3)),
        r"Received: readout units=4, embedding_dim=3\.",
    ),
    (
        lambda: layers.TransformerDecoderLayer(
            layers.MultiHeadSelfAttention(4, 2),
            layers.MultiHeadAttention(4, 2),
            layers.FeedForward(5, 4),
            [layers.PreNorm() for _ in range(3)],
        ),
        "Expected a causal self_attention.*causal=False",
    ),
    (
        lambda: layers.SinusoidalPositions()(QUERY[..., :3]),
        "even number of units.*Received: units=3",
    ),
    # Memories.
    (lambda: layers.MemoryHop(0), "Expected places >= 1, or None. Received: places=0"),
    (lambda: layers.SentenceAges(0), "Expected max_sentences >= 1. Received: max_sentences=0"),
    (lambda: layers.SentenceAges(5, 1.0), "Received: random_noise=1.0"),
    (lambda: layers.SentenceAges(5, -0.1), "Expected 0 <= random_noise < 1"),
    *(
        (
            lambda kind=kind: kind(0, 10, 6, layers.BagOfWords()),
            "Expected hops >= 1. Received: hops=0",
        )
        for kind in MEMORIES
    ),
]


@pytest.mark.parametrize(("make", "message"), ERRORS)
def test_what_does_not_fit(make, message):
    with pytest.raises(ValueError, match=message):
        make()

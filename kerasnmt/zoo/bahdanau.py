"""Models with attention before the recurrent cell."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import documented, register


@documented
def bahdanau(
    source: Any,
    target: Any,
    cell: type,
    score: keras.layers.Layer | None = None,
    readout: keras.layers.Layer | None = None,
    embedding_scale: float = assembly.SMALL,
    gate: type | None = None,
    pointer: keras.layers.Layer | None = None,
    name: str | None = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    attention: str | keras.layers.Layer = "global",
    normalizer: str | keras.layers.Layer = "softmax",
    coverage: float | None = None,
    layer_normalization: bool = False,
    tags: str = "tokens",
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Bahdanau's encoder-decoder, with attention before the recurrent cell.

    The encoder is bidirectional. The decoder attends with s_{t-1}, and feeds the context
    c_t = sum_i alpha_{t,i} h_i to its cell. Its first state is tanh(W h_1 backward + b); the
    paper's equation has no b. A maxout layer over the previous word, the state and the context
    predicts the next word. With `num_layers` above 1, upper layers of the decoder read the layer
    below and the context of the first layer.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000. Wu et al. (2016),
    "Google's neural machine translation system", section 3, for upper layers: with num_layers=8,
    units=1024, an encoder whose first layer alone is bidirectional, and residual connections
    from the third layer. Here, all layers of the encoder read in both directions, and residual
    connections start at the second layer.

    Args:
        score: A score, or None for the additive score of the paper.
        readout: Layer that turns word, state and context into features, or None for maxout.
        gate: Class of the gate of a pointer-generator.
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
    """
    cell = assembly.cell_class(cell, layer_normalization)
    # Layers draw their seeds when they are created, so another order gives other weights.
    attention = assembly.attention_layer(attention, units, score, coverage, normalizer)
    return assembly.recurrent_model(
        source,
        target,
        name=name,
        gate=gate and gate(name="gate"),
        pointer=pointer,
        encoder=assembly.layer_stack(
            layers.BidirectionalLayer, cell, units, num_layers, state_dropout
        ),
        bridge=layers.BackwardStateBridge(units, num_layers, name="bridge"),
        decoder_cell=layers.BahdanauDecoderCell(
            cell(units, name="cell"),
            attention,
            state_dropout,
            name="cell",
        ),
        upper=assembly.upper_layers(cell, units, num_layers, dropout, state_dropout),
        residual=True,
        readout=readout or layers.MaxoutReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        embedding_scale=embedding_scale,
        tags=tags,
        dropout=dropout,
        context_dropout=context_dropout,
        output_dropout=output_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register(family=bahdanau)
def bahdanau_gru(source: Any, target: Any = None, **options) -> Seq2Seq:
    """RNNsearch: a bidirectional GRU encoder and a GRU decoder with additive attention.

        e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b)

    See appendix A.1.2 of the paper.
    """
    return bahdanau(source, target, layers.GRUCell, **options)


@register(family=bahdanau)
def bahdanau_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """RNNsearch with LSTM cells.

        e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b)

    See appendix A.1.2 of the paper.
    """
    return bahdanau(source, target, layers.LSTMCell, embedding_scale=assembly.LARGE, **options)


@register(family=bahdanau)
def concat_gru(source: Any, target: Any = None, **options) -> Seq2Seq:
    """RNNsearch that predicts words from the state alone, a simplification in many introductions.

        e_{t,i} = W_2 tanh(W_1 [h_i; s_{t-1}])

    This is the additive score with W_1 = [W, U]. The output projection reads s_t instead of a
    maxout layer, so the context must pass the cell.
    """
    return bahdanau(
        source,
        target,
        layers.GRUCell,
        readout=layers.StateReadout(name="readout"),
        embedding_scale=assembly.LARGE,
        **options,
    )


@register(family=bahdanau)
def dense_scorer_gru(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """RNNsearch whose score consists of dense layers at every source position, as in tutorials.

        e_{t,i} = v^T tanh(W [h_i; s_{t-1}] + b) + c

    Without the hidden layer, the attention weights could not depend on the decoder; see
    `kerasnmt.layers.TimeDistributedDenseScorer`.
    """
    score = layers.TimeDistributedDenseScorer(units, name="score")
    return bahdanau(source, target, layers.GRUCell, score, units=units, **options)


@register(family=bahdanau)
def history_attention_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int,
    units: int,
    num_layers: int,
    attention: str | keras.layers.Layer,
    normalizer: str | keras.layers.Layer,
    coverage: float | None,
    layer_normalization: bool,
    dropout: float,
    state_dropout: float,
    **options,
) -> Seq2Seq:
    """RNNsearch that also attends to its own earlier states.

        e_{t,j} = v^T tanh(W s_j + U s_{t-1} + b)    for all j < t

    The attention to the source has the same kind of score, with its own weights. The cell and the
    maxout layer read both contexts. At the first word, the context of the earlier states is zero.
    Coverage applies to the source.

    Source: Cheng, Dong and Lapata (2016), "Long short-term memory-networks for machine reading",
    for the attention to earlier states; Paulus, Xiong and Socher (2018), "A deep reinforced model
    for abstractive summarization", for their second context in a decoder.
    """
    cell = assembly.cell_class(layers.GRUCell, layer_normalization)
    return assembly.recurrent_model(
        source,
        target,
        encoder=assembly.layer_stack(
            layers.BidirectionalLayer, cell, units, num_layers, state_dropout
        ),
        bridge=layers.BackwardStateBridge(units, num_layers, name="bridge"),
        decoder_cell=layers.HistoryDecoderCell(
            cell(units, name="cell"),
            assembly.attention_layer(attention, units, None, coverage, normalizer),
            layers.BahdanauAttention(units, normalizer=normalizer, name="history_attention"),
            state_dropout,
            name="cell",
        ),
        upper=assembly.upper_layers(cell, units, num_layers, dropout, state_dropout),
        residual=True,
        readout=layers.MaxoutReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        dropout=dropout,
        **options,
    )

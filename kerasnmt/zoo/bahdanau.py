"""Models with attention before the recurrent cell."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import LARGE_EMBEDDINGS, coverage_layer, recurrent_model
from kerasnmt.zoo.registry import register


@register
def bahdanau_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch: a bidirectional GRU encoder and a GRU decoder with additive attention.

    e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b). The decoder asks the attention with s_{t-1} and feeds
    the context to its cell; its first state comes from the encoder's backward state, and words are
    predicted by a maxout layer over the last word, the state and the context.

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate". The paper's sizes are embedding_dim=620, units=1000.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: embeddings are to be shared by two vocabularies.
    """
    return bahdanau_model(
        "bahdanau_gru",
        source,
        target,
        layers.GRUCell,
        layers.BahdanauAttention(units, coverage_layer(coverage), name="attention"),
        embedding_dim=embedding_dim,
        units=units,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def bahdanau_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch with LSTM cells in place of GRU: see `bahdanau_gru`.

    e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b).

    Source: Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning to
    align and translate", with the cell of Hochreiter and Schmidhuber (1997).

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: embeddings are to be shared by two vocabularies.
    """
    return bahdanau_model(
        "bahdanau_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.BahdanauAttention(units, coverage_layer(coverage), name="attention"),
        embedding_dim=embedding_dim,
        units=units,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        embedding_scale=LARGE_EMBEDDINGS,
    )


@register
def concat_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """RNNsearch that predicts words from the state alone.

    e_{t,i} = W2 tanh(W1 [h_i; s_{t-1}]), which is the additive score with W1 = [W, U]; but the
    vocabulary sees s_t only, so all that the attention found has to go through the cell.

    Source: Bahdanau, Cho and Bengio (2015), as many introductions simplify it.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: embeddings are to be shared by two vocabularies.
    """
    return bahdanau_model(
        "concat_gru",
        source,
        target,
        layers.GRUCell,
        layers.BahdanauAttention(units, coverage_layer(coverage), name="attention"),
        embedding_dim=embedding_dim,
        units=units,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        embedding_scale=LARGE_EMBEDDINGS,
        readout=layers.StateReadout(name="readout"),
    )


@register
def dense_scorer_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    coverage: float | None = None,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Bahdanau's decoder with dense layers, applied at every source position, as the score.

    e_{t,i} = v^T tanh(W [h_i; s_{t-1}] + b) + c, with a hidden layer: without one the weights could
    not depend on the decoder, see `kerasnmt.layers.TimeDistributedDenseScorer`.

    Source: Bahdanau, Cho and Bengio (2015), as tutorials build it of Keras' dense layers.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the
            attention's hidden layer.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: embeddings are to be shared by two vocabularies.
    """
    return bahdanau_model(
        "dense_scorer_gru",
        source,
        target,
        layers.GRUCell,
        layers.Attention(
            layers.TimeDistributedDenseScorer(units, name="score"),
            coverage=coverage_layer(coverage),
            name="attention",
        ),
        embedding_dim=embedding_dim,
        units=units,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


def bahdanau_model(
    name: str,
    source: Any,
    target: Any,
    cell: type[keras.layers.Layer],
    attention: keras.layers.Layer,
    *,
    embedding_dim: int,
    units: int,
    state_dropout: float,
    readout: keras.layers.Layer | None = None,
    **options,
) -> Seq2Seq:
    """Put an attention into Bahdanau's decoder."""
    return recurrent_model(
        name,
        source,
        target,
        encoder_layers=[
            layers.BidirectionalLayer(cell(units, name="cell"), state_dropout, name="layer_0")
        ],
        bridge=layers.BackwardStateBridge(units, name="bridge"),
        decoder_cell=layers.BahdanauDecoderCell(
            cell(units, name="cell"), attention, state_dropout, name="cell"
        ),
        readout=readout or layers.MaxoutReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        **options,
    )

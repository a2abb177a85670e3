"""Models that attend to their own earlier states."""

from typing import Any

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import coverage_layer, recurrent_model
from kerasnmt.zoo.registry import register


@register
def history_attention_gru(
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
    """RNNsearch that attends to its own earlier states as well: see `bahdanau_gru`.

    e_{t,j} = v^T tanh(W s_j + U s_{t-1} + b) for all j < t, beside the same score, with weights of
    its own, of the source. Both contexts are fed to the cell and heard by the maxout layer; at the
    first word, that of the history is zeros.

    Source: Bahdanau, Cho and Bengio (2015) with the attention of Cheng, Dong and Lapata (2016),
    "Long short-term memory-networks for machine reading", to a cell's earlier states, as a second
    context of the decoder, as in Paulus, Xiong and Socher (2018), "A deep reinforced model for
    abstractive summarization".

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, of each direction of the encoder, and of the hidden
            layers of both attentions.
        coverage: what the loss of coverage of the source counts, 0 for coverage without it; None
            for an attention that forgets where it looked. Small from the start, as 0.1; See et al.
            (2017) add it, at 1, to a trained model.
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
    return recurrent_model(
        "history_attention_gru",
        source,
        target,
        encoder_layers=[
            layers.BidirectionalLayer(
                layers.GRUCell(units, name="cell"), state_dropout, name="layer_0"
            )
        ],
        bridge=layers.BackwardStateBridge(units, name="bridge"),
        decoder_cell=layers.HistoryDecoderCell(
            layers.GRUCell(units, name="cell"),
            layers.BahdanauAttention(units, coverage_layer(coverage), name="attention"),
            layers.BahdanauAttention(units, name="history_attention"),
            state_dropout,
            name="cell",
        ),
        readout=layers.MaxoutReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        dropout=dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )

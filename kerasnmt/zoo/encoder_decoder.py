"""Models without attention: all of the source in one thought vector."""

from typing import Any

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import LARGE_EMBEDDINGS, check_num_layers, recurrent_model, stack
from kerasnmt.zoo.registry import register


@register
def encoder_decoder_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """The RNN encoder-decoder: a thought vector, fed to the decoder at every word.

    c = tanh(V h_S), s_0 = c, s_t = cell([y_{t-1}; c], s_{t-1}). Words are predicted by a maxout
    layer over the last word and the state; in the paper over c as well, and s_0 = tanh(V' c).

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation". The paper's sizes are embedding_dim=100, units=1000.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the states.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
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
        ValueError: `num_layers` is less than 1, or embeddings are to be shared by two vocabularies.
    """
    check_num_layers(num_layers)
    cell = stack(layers.GRUCell, units, num_layers)
    return recurrent_model(
        "encoder_decoder_gru",
        source,
        target,
        encoder_layers=[
            layers.ForwardLayer(
                layers.GRUCell(units, name="cell"), state_dropout, name=f"layer_{number}"
            )
            for number in range(num_layers)
        ],
        bridge=layers.DenseBridge(cell.state_size, name="bridge"),
        decoder_cell=layers.ThoughtVectorDecoderCell(cell, state_dropout, name="cell"),
        readout=layers.MaxoutReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        dropout=dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        residual=True,
    )


@register
def encoder_decoder_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Sequence to sequence learning: the source reversed, its last state the decoder's first.

    s_0 = h_1 of an encoder that reads from the last word to the first, s_t = cell(y_{t-1},
    s_{t-1}); words are predicted from the state.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".
    The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the states.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
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
        ValueError: `num_layers` is less than 1, or embeddings are to be shared by two vocabularies.
    """
    check_num_layers(num_layers)
    return recurrent_model(
        "encoder_decoder_lstm",
        source,
        target,
        encoder_layers=[
            layers.BackwardLayer(
                layers.LSTMCell(units, name="cell"), state_dropout, name=f"layer_{number}"
            )
            for number in range(num_layers)
        ],
        bridge=layers.LastStateBridge(name="bridge"),
        decoder_cell=layers.FirstStateDecoderCell(
            stack(layers.LSTMCell, units, num_layers), state_dropout, name="cell"
        ),
        readout=layers.StateReadout(name="readout"),
        embedding_dim=embedding_dim,
        dropout=dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        embedding_scale=LARGE_EMBEDDINGS,
        residual=True,
    )

"""Models without attention, where a thought vector represents the whole source."""

from typing import Any

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import documented, register


@documented
def encoder_decoder(
    source: Any,
    target: Any,
    cell: type,
    feeds_thought_vector: bool,
    name: str | None = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    layer_normalization: bool = False,
    tags: str = "tokens",
    dropout: float = 0.2,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Encoder-decoder without attention.

    Args:
        feeds_thought_vector: Whether the decoder reads the thought vector at every word, as in Cho
            et al. (2014), or only starts from it, as in Sutskever et al. (2014).
        units: Size of the states.
    """
    cell = assembly.cell_class(cell, layer_normalization)
    # Layers draw their seeds when they are created, so another order gives other weights.
    if feeds_thought_vector:
        stacked = assembly.cell_stack(cell, units, num_layers)
        encoder = assembly.layer_stack(layers.ForwardLayer, cell, units, num_layers, state_dropout)
        bridge = layers.DenseBridge(stacked.state_size, name="bridge")
        decoder_cell = layers.ThoughtVectorDecoderCell(stacked, state_dropout, name="cell")
        readout = layers.MaxoutReadout(embedding_dim, name="readout")
    else:
        encoder = assembly.layer_stack(layers.BackwardLayer, cell, units, num_layers, state_dropout)
        stacked = assembly.cell_stack(cell, units, num_layers)
        bridge = layers.LastStateBridge(name="bridge")
        decoder_cell = layers.FirstStateDecoderCell(stacked, state_dropout, name="cell")
        readout = layers.StateReadout(name="readout")
    return assembly.recurrent_model(
        source,
        target,
        name=name,
        encoder=encoder,
        bridge=bridge,
        decoder_cell=decoder_cell,
        readout=readout,
        embedding_dim=embedding_dim,
        embedding_scale=assembly.SMALL if feeds_thought_vector else assembly.LARGE,
        residual=True,
        tags=tags,
        dropout=dropout,
        output_dropout=output_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register(family=encoder_decoder)
def encoder_decoder_gru(source: Any, target: Any = None, **options) -> Seq2Seq:
    """RNN encoder-decoder, which feeds a thought vector to the decoder at every word.

        c = tanh(V h_S),    s_0 = c,    s_t = cell([y_{t-1}; c], s_{t-1})

    A maxout layer over the previous word and the state predicts the next word. In the paper, it
    also reads c, and s_0 = tanh(V' c).

    Source: Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation". The paper's sizes are embedding_dim=100, units=1000.
    """
    return encoder_decoder(source, target, layers.GRUCell, feeds_thought_vector=True, **options)


@register(family=encoder_decoder)
def encoder_decoder_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Sequence to sequence learning: the decoder starts from the encoder's last state.

        s_0 = h_1,    s_t = cell(y_{t-1}, s_{t-1})

    The encoder reads from the last word to the first. The state alone predicts the next word.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks".
    The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.
    """
    return encoder_decoder(source, target, layers.LSTMCell, feeds_thought_vector=False, **options)

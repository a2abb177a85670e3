"""Model with attention between two transitions of its recurrent cell."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import register


@register()
def cgru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    transitions: int = 2,
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
    """Conditional GRU (cGRU), which attends between two transitions of its state.

        s'_t = GRU_1(y_{t-1}, s_{t-1}),    c_t = attention(s'_t, h),    s_t = GRU_2(c_t, s'_t)

    The encoder is a bidirectional GRU, and the score is additive. A dense layer with tanh over the
    state, the previous word and the context predicts the next word. In the paper, the first state
    depends on the mean of the annotations; here, it is Bahdanau's tanh(W h_1 backward + b). With
    `num_layers` above 1, upper layers of the decoder, with a GRU cell each, read the layer below
    and the context.

    Source: Sennrich et al. (2017), "Nematus: a toolkit for neural machine translation", section 3.
    Its model for Multi30k in Caglayan et al. (2017), "LIUM-CVC submissions for WMT17 multimodal
    translation task", has embedding_dim=128, units=256, layer_normalization=True,
    context_dropout=0.5, output_dropout=0.5, and a dropout rate of 0.3 for the source embeddings.
    Miceli Barone et al. (2017), "Deep architectures for neural machine translation", for
    transitions and upper layers.

    Args:
        units: Size of the decoder's state, of each direction of the encoder, and of the score's
            hidden layer.
        transitions: Number of GRU cells in a step of the decoder, at least 2. The first one reads
            the previous word, the second one the context, and the others only a bias; see
            `kerasnmt.layers.TransitionCell`.
    """
    if transitions < 2:
        raise ValueError(
            "Expected transitions >= 2, one before the attention and one after it. "
            f"Received: transitions={transitions}"
        )
    cell = assembly.cell_class(layers.GRUCell, layer_normalization)
    first, second, *others = (cell(units, name=f"cell_{number}") for number in range(transitions))
    return assembly.recurrent_model(
        source,
        target,
        name="cgru",
        encoder=assembly.layer_stack(
            layers.BidirectionalLayer, cell, units, num_layers, state_dropout
        ),
        bridge=layers.BackwardStateBridge(units, num_layers, name="bridge"),
        decoder_cell=layers.ConditionalDecoderCell(
            first,
            layers.TransitionCell([second, *others], name="transition") if others else second,
            assembly.attention_layer(attention, units, None, coverage, normalizer),
            state_dropout,
            name="cell",
        ),
        upper=assembly.upper_layers(cell, units, num_layers, dropout, state_dropout),
        residual=True,
        readout=layers.TanhReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        tags=tags,
        dropout=dropout,
        context_dropout=context_dropout,
        output_dropout=output_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )

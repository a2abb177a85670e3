"""Models with exact hard attention, for characters."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import documented, register


@documented
def hard_attention(
    source: Any,
    target: Any,
    alignment: keras.layers.Layer,
    name: str | None = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    layer_normalization: bool = False,
    tags: str = "tokens",
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Encoder-decoder with exact hard attention, meant for characters.

        p(y | x) = sum_a prod_t p(y_t | a_t, y_<t) p(a_t | a_{t-1}, y_<t)
        p(y_t | a_t = j, y_<t) = softmax(V tanh(W [h_j; s_t]) + b)

    Each character of the target comes from one position of the source, its alignment, which is a
    latent variable. Training maximizes the exact sum over all alignments. The decoder's state s_t
    does not depend on the alignment. Time and memory of a training step grow with the product of
    source length, target length and vocabulary; see `kerasnmt.layers.HardAttentionDecoder`. Label
    smoothing takes more of both. The authors' code uses none.

    Args:
        alignment: Distribution of the alignment, such as `kerasnmt.layers.IndependentAlignment`.
        units: Size of the decoder's state and of the annotations, an even number.
        num_layers: Number of layers of the encoder, at least 1. Upper layers have residual
            connections. The decoder has one layer.
    """
    if units < 1 or units % 2:
        raise ValueError(
            "Expected units even and above 0, because each direction of the encoder has half. "
            f"Received: units={units}"
        )
    kind = assembly.cell_class(layers.LSTMCell, layer_normalization)
    cell = kind(units, name="cell")
    return assembly.recurrent_model(
        source,
        target,
        name=name,
        encoder=assembly.layer_stack(
            layers.BidirectionalLayer, kind, units // 2, num_layers, state_dropout
        ),
        bridge=layers.LastStateBridge(name="bridge")
        if num_layers == 1
        else layers.DenseBridge(cell.state_size, name="bridge"),
        decoder_cell=layers.FirstStateDecoderCell(cell, state_dropout, name="cell"),
        alignment=alignment,
        readout=layers.AttentionalReadout(embedding_dim, name="readout"),
        embedding_dim=embedding_dim,
        embedding_scale=assembly.LARGE,
        residual=True,
        tags=tags,
        dropout=dropout,
        context_dropout=context_dropout,
        output_dropout=output_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register(family=hard_attention)
def hard_attention_lstm(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """Exact hard attention: each character is aligned by itself, in any order.

        p(a_t = j | a_{t-1}, y_<t) = softmax_j(s_t^T W_a h_j)

    Source: Wu, Shapiro and Cotterell (2018), "Hard non-monotonic attention for character-level
    transduction". The paper's sizes are embedding_dim=100, units=200, dropout=0.2, or
    embedding_dim=200, units=400, dropout=0.4, with num_layers=2.
    """
    score = layers.GeneralScore(units, name="score")
    alignment = layers.IndependentAlignment(score, name="alignment")
    return hard_attention(source, target, alignment, units=units, **options)


@register(family=hard_attention)
def hard_monotonic_lstm(
    source: Any,
    target: Any = None,
    *,
    units: int,
    order: int = 0,
    width: int | None = None,
    **options,
) -> Seq2Seq:
    """Exact hard monotonic attention: the alignment never goes back.

        p(a_t = j | a_{t-1} = i, y_<t) = softmax_{j >= i}(s_t^T W_a h_j)    of 0th order
        p(a_t = i + d | a_{t-1} = i, y_<t) = softmax_{0 <= d <= w}((U s_t + V h_i + c)_d)    of 1st

    Source: Wu and Cotterell (2019), "Exact hard monotonic attention for character-level
    transduction". The paper's sizes are embedding_dim=200, units=400, num_layers=2, dropout=0.4.

    Args:
        order: 0 or 1, the order of the alignment. With order 1, a jump depends on the position
            before it.
        width: Largest jump w of order 1, or None for 5.
    """
    if order not in (0, 1):
        raise ValueError(f"Expected order 0 or 1. Received: order={order}")
    if order == 0 and width is not None:
        raise ValueError(
            f"Expected no width with order=0, whose jumps have any size. Received: width={width}"
        )
    alignment: keras.layers.Layer
    if order == 0:
        score = layers.GeneralScore(units, name="score")
        alignment = layers.MonotonicAlignment(score, name="alignment")
    else:
        alignment = layers.JumpAlignment(5 if width is None else width, name="alignment")
    return hard_attention(source, target, alignment, units=units, **options)

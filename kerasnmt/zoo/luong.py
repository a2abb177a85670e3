"""Models with attention after the recurrent cell."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo import assembly
from kerasnmt.zoo.registry import documented, register


@documented
def luong(
    source: Any,
    target: Any,
    cell: type,
    score: keras.layers.Layer,
    window: keras.layers.Layer | None = None,
    name: str | None = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    bidirectional: bool = True,
    num_layers: int = 1,
    input_feeding: bool = False,
    attention: str = "global",
    normalizer: str | keras.layers.Layer = "softmax",
    coverage: float | None = None,
    fused: bool = False,
    layer_normalization: bool = False,
    tags: str = "tokens",
    dropout: float = 0.2,
    context_dropout: float = 0.0,
    output_dropout: float | None = None,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder attends with its new state s_t. The attentional vector tanh(W [c_t; s_t]), with the
    context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The decoder starts from the
    encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads only forward, which is `bidirectional=False`.

    Args:
        score: Score of the attention.
        window: A window, or None for global attention.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations, if it differs from `units`. Then a dense layer turns
            the encoder's last states into the decoder's first states.
        bidirectional: Whether the encoder reads in both directions. This is the default, because an
            annotation then also depends on later words; the two have not been compared. Each
            direction computes half of an annotation, so the size of the annotations must be even.
            False is the paper's encoder.
        input_feeding: Whether the cell reads the attentional vector of the previous word.
            `coverage` needs it, and so does an `attention` other than "global".
        attention: "global", or "location_sensitive", "monotonic" or "chunkwise" with the score of
            the model (within a chunk, with an additive one); see `bahdanau_gru`.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which cuDNN runs on a GPU;
            see `kerasnmt.layers.FusedCell`. It excludes input feeding, state dropout, layer
            normalization and several layers.
    """
    layer, directions = (
        (layers.BidirectionalLayer, 2) if bidirectional else (layers.ForwardLayer, 1)
    )
    annotation_units = _annotation_units(units, encoder_units, directions)
    _check_fused(fused, input_feeding, num_layers, state_dropout, layer_normalization)
    cell = assembly.cell_class(cell, layer_normalization)
    attending = assembly.attention_layer(attention, units, score, coverage, normalizer, window)
    if input_feeding:
        decoder_cell, readout = layers.InputFeedingDecoderCell, layers.StateReadout(name="readout")
    else:
        decoder_cell = layers.LuongDecoderCell
        readout = layers.AttentionalReadout(embedding_dim, name="readout")
    if fused:
        stacked = assembly.fused_cell(cell, units)
    else:
        stacked = assembly.cell_stack(cell, units, num_layers)
    return assembly.recurrent_model(
        source,
        target,
        name=name,
        encoder=assembly.layer_stack(
            layer, cell, annotation_units // directions, num_layers, state_dropout
        ),
        bridge=layers.LastStateBridge(name="bridge")
        if annotation_units == units
        else layers.DenseBridge(stacked.state_size, name="bridge"),
        decoder_cell=decoder_cell(stacked, attending, state_dropout, name="cell"),
        readout=readout,
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


def _annotation_units(units: int, encoder_units: int | None, directions: int) -> int:
    """Return the size of the annotations, and check that the encoder's directions can share it."""
    key, size = ("units", units) if encoder_units is None else ("encoder_units", encoder_units)
    if size < 1 or size % directions:
        halves = "even and above 0, because each direction of the encoder has half"
        expected = halves if directions == 2 else "above 0"
        raise ValueError(f"Expected {key} {expected}. Received: {key}={size}")
    return size


def _check_fused(
    fused: bool,
    input_feeding: bool,
    num_layers: int,
    state_dropout: float,
    layer_normalization: bool,
) -> None:
    """Check that a fused cell has no options that run step by step or need a mask of states."""
    if fused and (input_feeding or num_layers > 1):
        raise ValueError(
            "Expected fused=False with input feeding or with several layers, which run step by "
            f"step. Received: fused=True, input_feeding={input_feeding}, num_layers={num_layers}"
        )
    if fused and state_dropout:
        raise ValueError(
            "Expected state_dropout=0 with fused=True, because the cell takes no masks of states. "
            f"Received: fused=True, state_dropout={state_dropout}"
        )
    if fused and layer_normalization:
        raise ValueError(
            "Expected layer_normalization=False with fused=True, because Keras' recurrent layers "
            "have none. Received: fused=True, layer_normalization=True"
        )


@register(family=luong, without=["encoder_units"])
def luong_dot_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Luong's model with LSTM cells and the dot score.

        e_{t,i} = s_t^T h_i

    See section 3.1 of the paper.
    """
    return luong(source, target, layers.LSTMCell, layers.DotScore(name="score"), **options)


@register(family=luong, without=["encoder_units"])
def luong_scaled_dot_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Luong's model with LSTM cells and the scaled dot score.

        e_{t,i} = s_t^T h_i / sqrt(n)

    See Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
    """
    return luong(source, target, layers.LSTMCell, layers.ScaledDotScore(name="score"), **options)


@register(family=luong, without=["encoder_units"])
def luong_cosine_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Luong's model with LSTM cells and the cosine score.

        e_{t,i} = g cos(s_t, h_i)

    See Graves, Wayne and Danihelka (2014), "Neural Turing machines", equations 5 and 6.
    """
    return luong(source, target, layers.LSTMCell, layers.CosineScore(name="score"), **options)


@register(family=luong)
def luong_general_lstm(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """Luong's model with LSTM cells and the general score.

        e_{t,i} = s_t^T W h_i

    See section 3.1 of the paper.
    """
    score = layers.GeneralScore(units, name="score")
    return luong(source, target, layers.LSTMCell, score, units=units, **options)


@register(family=luong)
def luong_general_gru(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """Luong's model with GRU cells and the general score.

        e_{t,i} = s_t^T W h_i

    See section 3.1 of the paper.
    """
    score = layers.GeneralScore(units, name="score")
    return luong(source, target, layers.GRUCell, score, units=units, **options)


@register(family=luong)
def luong_concat_lstm(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """Luong's model with LSTM cells and the concat score.

        e_{t,i} = v^T tanh(W [s_t; h_i] + b)

    See section 3.1 of the paper, where the score has no b.
    """
    score = layers.AdditiveScore(units, name="score")
    return luong(source, target, layers.LSTMCell, score, units=units, **options)


@register(family=luong, without=["attention", "coverage"])
def luong_location_lstm(
    source: Any, target: Any = None, *, max_length: int = 100, **options
) -> Seq2Seq:
    """Luong's model with LSTM cells and the location score, which reads only the state.

        e_t = W s_t

    See section 3.1 and equation 8 of the paper.

    Args:
        max_length: Number of source positions that can get attention. The rest of a longer source
            is ignored.
    """
    score = layers.LocationScore(max_length, name="score")
    return luong(source, target, layers.LSTMCell, score, **options)


@register(family=luong, without=["attention"])
def luong_local_m_lstm(
    source: Any, target: Any = None, *, units: int, width: int = 10, **options
) -> Seq2Seq:
    """Luong's model with LSTM cells and the general score in a monotonic window, "local-m".

        e_{t,i} = s_t^T W h_i    for |i - t| <= D

    Positions t and i are counted from 0. See section 3.2 of the paper.

    Args:
        width: Number D of source words on each side of the window's center.
    """
    score = layers.GeneralScore(units, name="score")
    window = layers.LocalMonotonicWindow(width, name="window")
    return luong(source, target, layers.LSTMCell, score, window, units=units, **options)


@register(family=luong, without=["attention"])
def luong_local_p_lstm(
    source: Any, target: Any = None, *, units: int, width: int = 10, **options
) -> Seq2Seq:
    """Luong's model with LSTM cells and the general score in a predictive window, "local-p".

        e_{t,i} = s_t^T W h_i    for |i - p_t| <= D
        p_t = S sigmoid(v^T tanh(W_p s_t))

    A Gaussian around p_t multiplies the attention weights. Positions i are counted from 0. See
    section 3.2 of the paper.

    Args:
        width: Number D of source words on each side of the window's center.
    """
    score = layers.GeneralScore(units, name="score")
    window = layers.LocalPredictiveWindow(units, width, name="window")
    return luong(source, target, layers.LSTMCell, score, window, units=units, **options)

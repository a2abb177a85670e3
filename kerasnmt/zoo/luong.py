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
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Luong's encoder-decoder, with attention after the recurrent cell.

    The decoder asks the attention with its new state s_t. The attentional state
    tanh(W [c_t; s_t]), with the context c_t = sum_i alpha_{t,i} h_i, predicts the next word. The
    decoder starts from the encoder's last states.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation". The paper's sizes are embedding_dim=1000, units=1000, num_layers=4. Its encoder
    reads forward only, as with `bidirectional=False`.

    Args:
        score: The score.
        window: The window; None for global attention.
        units: Size of the decoder's state and of the annotations.
        encoder_units: Size of the annotations where it differs from `units`. A dense layer then
            turns the encoder's last states into the decoder's first.
        bidirectional: Whether the encoder reads in both directions. Each direction makes half of an
            annotation, so the size of the annotations is even. This is the default because an
            annotation then also depends on the words after its own; no measurement compares the
            two. False for the paper's encoder, which reads forward only.
        input_feeding: Whether the cell reads the attentional state of the word before. `coverage`
            needs it.
        fused: Whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`. Not with input feeding, state dropout or more layers.
    """
    layer, directions = (
        (layers.BidirectionalLayer, 2) if bidirectional else (layers.ForwardLayer, 1)
    )
    annotation_units = _annotation_units(units, encoder_units, directions)
    assembly.check_num_layers(num_layers)
    _check_fused(fused, input_feeding, num_layers, state_dropout)
    attention = layers.Attention(score, window, assembly.coverage_layer(coverage), name="attention")
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
        decoder_cell=decoder_cell(stacked, attention, state_dropout, name="cell"),
        readout=readout,
        embedding_dim=embedding_dim,
        embedding_scale=assembly.LARGE,
        residual=True,
        dropout=dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


def _annotation_units(units: int, encoder_units: int | None, directions: int) -> int:
    """Return the size of the annotations; refuse one that the encoder's directions cannot share."""
    key, size = ("units", units) if encoder_units is None else ("encoder_units", encoder_units)
    if size < 1 or size % directions:
        halves = "even and above 0: each direction of the encoder has half"
        expected = halves if directions == 2 else "above 0"
        raise ValueError(f"Expected {key} {expected}. Received: {key}={size}")
    return size


def _check_fused(fused: bool, input_feeding: bool, num_layers: int, state_dropout: float) -> None:
    """Refuse a fused cell with what runs step by step or needs a mask of the states."""
    if fused and (input_feeding or num_layers > 1):
        raise ValueError(
            "Expected fused=False with input feeding or with several layers, which run step by "
            f"step. Received: fused=True, input_feeding={input_feeding}, num_layers={num_layers}"
        )
    if fused and state_dropout:
        raise ValueError(
            "Expected state_dropout=0 with fused=True, a cell that takes no masks of its states. "
            f"Received: fused=True, state_dropout={state_dropout}"
        )


@register(family=luong, without=["encoder_units"])
def luong_dot_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Dot score, e_{t,i} = s_t^T h_i (section 3.1)."""
    return luong(source, target, layers.LSTMCell, layers.DotScore(name="score"), **options)


@register(family=luong, without=["encoder_units"])
def luong_scaled_dot_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Scaled dot score, e_{t,i} = s_t^T h_i / sqrt(n) (Vaswani et al. 2017, section 3.2.1)."""
    return luong(source, target, layers.LSTMCell, layers.ScaledDotScore(name="score"), **options)


@register(family=luong, without=["encoder_units"])
def luong_cosine_lstm(source: Any, target: Any = None, **options) -> Seq2Seq:
    """Cosine score, e_{t,i} = g cos(s_t, h_i) (Graves, Wayne and Danihelka 2014)."""
    return luong(source, target, layers.LSTMCell, layers.CosineScore(name="score"), **options)


@register(family=luong)
def luong_general_lstm(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """General score, e_{t,i} = s_t^T W h_i (section 3.1)."""
    score = layers.GeneralScore(units, name="score")
    return luong(source, target, layers.LSTMCell, score, units=units, **options)


@register(family=luong)
def luong_general_gru(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """General score, e_{t,i} = s_t^T W h_i (section 3.1), with GRU cells in place of the LSTM's."""
    score = layers.GeneralScore(units, name="score")
    return luong(source, target, layers.GRUCell, score, units=units, **options)


@register(family=luong)
def luong_concat_lstm(source: Any, target: Any = None, *, units: int, **options) -> Seq2Seq:
    """Concat score, e_{t,i} = v^T tanh(W [s_t; h_i] + b) (section 3.1, without the b)."""
    score = layers.AdditiveScore(units, name="score")
    return luong(source, target, layers.LSTMCell, score, units=units, **options)


@register(family=luong, without=["coverage"])
def luong_location_lstm(
    source: Any, target: Any = None, *, max_length: int = 100, **options
) -> Seq2Seq:
    """Location score, e_t = W s_t, which reads the state alone (section 3.1, equation 8).

    Args:
        max_length: The number of source positions that can be attended to; the rest of a longer
            source is ignored.
    """
    score = layers.LocationScore(max_length, name="score")
    return luong(source, target, layers.LSTMCell, score, **options)


@register(family=luong)
def luong_local_m_lstm(
    source: Any, target: Any = None, *, units: int, width: int = 10, **options
) -> Seq2Seq:
    """General score in the monotonic window, e_{t,i} = s_t^T W h_i for |i - t| <= D (section 3.2).

    Positions t and i count from 0.

    Args:
        width: D, the number of source words on each side of the window's middle.
    """
    score = layers.GeneralScore(units, name="score")
    window = layers.LocalMonotonicWindow(width, name="window")
    return luong(source, target, layers.LSTMCell, score, window, units=units, **options)


@register(family=luong)
def luong_local_p_lstm(
    source: Any, target: Any = None, *, units: int, width: int = 10, **options
) -> Seq2Seq:
    """General score in the predictive window, e_{t,i} = s_t^T W h_i for |i - p_t| <= D.

    p_t = S sigmoid(v^T tanh(W_p s_t)), and a Gaussian around p_t multiplies the weights
    (section 3.2). Positions i count from 0.

    Args:
        width: D, the number of source words on each side of the window's middle.
    """
    score = layers.GeneralScore(units, name="score")
    window = layers.LocalPredictiveWindow(units, width, name="window")
    return luong(source, target, layers.LSTMCell, score, window, units=units, **options)

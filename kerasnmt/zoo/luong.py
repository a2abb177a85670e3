"""Models with attention after the recurrent cell."""

from typing import Any

import keras

from kerasnmt import layers
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.assembly import (
    LARGE_EMBEDDINGS,
    check_num_layers,
    coverage_layer,
    fused_cell,
    recurrent_model,
    stack,
)
from kerasnmt.zoo.registry import register


@register
def luong_dot_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, with the dot score.

    e_{t,i} = s_t^T h_i.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.1. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, and twice that of each direction of the encoder, so that
            annotations and states have one size; even.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `units` is odd, `num_layers` is less than 1, coverage without input feeding, or
            `fused` with it, with several layers or with dropout of states; or embeddings are to be
            shared by two vocabularies.
    """
    return _luong(
        "luong_dot_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.DotScore(name="score"),
        embedding_dim=embedding_dim,
        units=units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_scaled_dot_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, with the scaled dot score.

    e_{t,i} = s_t^T h_i / sqrt(n), the score of Vaswani et al. (2017).

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, and twice that of each direction of the encoder, so that
            annotations and states have one size; even.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `units` is odd, `num_layers` is less than 1, coverage without input feeding, or
            `fused` with it, with several layers or with dropout of states; or embeddings are to be
            shared by two vocabularies.
    """
    return _luong(
        "luong_scaled_dot_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.ScaledDotScore(name="score"),
        embedding_dim=embedding_dim,
        units=units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_cosine_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, with the cosine as the score.

    e_{t,i} = g cos(s_t, h_i), the score of Graves, Wayne and Danihelka (2014).

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state, and twice that of each direction of the encoder, so that
            annotations and states have one size; even.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: `units` is odd, `num_layers` is less than 1, coverage without input feeding, or
            `fused` with it, with several layers or with dropout of states; or embeddings are to be
            shared by two vocabularies.
    """
    return _luong(
        "luong_cosine_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.CosineScore(name="score"),
        embedding_dim=embedding_dim,
        units=units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_general_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, with the general score.

    e_{t,i} = s_t^T W h_i.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.1. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state.
        encoder_units: size of the annotations, twice that of each direction of the encoder; even.
            None for `units`, with the encoder's last states as the decoder's first; at another
            size a dense layer makes them.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: the encoder's units are odd, `num_layers` is less than 1, coverage without input
            feeding, or `fused` with it, with several layers or with dropout of states; or
            embeddings are to be shared by two vocabularies.
    """
    return _luong(
        "luong_general_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.GeneralScore(units, name="score"),
        embedding_dim=embedding_dim,
        units=units,
        encoder_units=encoder_units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_general_gru(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after a GRU cell, with the general score.

    e_{t,i} = s_t^T W h_i.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.1. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state.
        encoder_units: size of the annotations, twice that of each direction of the encoder; even.
            None for `units`, with the encoder's last states as the decoder's first; at another
            size a dense layer makes them.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: the encoder's units are odd, `num_layers` is less than 1, coverage without input
            feeding, or `fused` with it, with several layers or with dropout of states; or
            embeddings are to be shared by two vocabularies.
    """
    return _luong(
        "luong_general_gru",
        source,
        target,
        layers.GRUCell,
        layers.GeneralScore(units, name="score"),
        embedding_dim=embedding_dim,
        units=units,
        encoder_units=encoder_units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_concat_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    num_layers: int = 1,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, with the concat score.

    e_{t,i} = v^T tanh(W [s_t; h_i] + b).

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.1. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state.
        encoder_units: size of the annotations, twice that of each direction of the encoder; even.
            None for `units`, with the encoder's last states as the decoder's first; at another
            size a dense layer makes them.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: the encoder's units are odd, `num_layers` is less than 1, coverage without input
            feeding, or `fused` with it, with several layers or with dropout of states; or
            embeddings are to be shared by two vocabularies.
    """
    return _luong(
        "luong_concat_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.AdditiveScore(units, name="score"),
        embedding_dim=embedding_dim,
        units=units,
        encoder_units=encoder_units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_location_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    num_layers: int = 1,
    max_length: int = 100,
    input_feeding: bool = False,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, with the location score.

    e_t = W s_t: where to look is read off the state alone, whatever stands there.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", equation 8. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state.
        encoder_units: size of the annotations, twice that of each direction of the encoder; even.
            None for `units`, with the encoder's last states as the decoder's first; at another
            size a dense layer makes them.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        max_length: tokens of a source that can be attended to; of longer ones the rest is not seen.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: the encoder's units are odd, `num_layers` is less than 1, or `fused` with input
            feeding or with several layers.
    """
    return _luong(
        "luong_location_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.LocationScore(max_length, name="score"),
        embedding_dim=embedding_dim,
        units=units,
        encoder_units=encoder_units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=None,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
    )


@register
def luong_local_m_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    num_layers: int = 1,
    width: int = 10,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, within the monotonic window.

    e_{t,i} = s_t^T W h_i for i within D words of t.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.2. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state.
        encoder_units: size of the annotations, twice that of each direction of the encoder; even.
            None for `units`, with the encoder's last states as the decoder's first; at another
            size a dense layer makes them.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        width: D, source words to each side of the window's middle.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: the encoder's units are odd, `num_layers` is less than 1, coverage without input
            feeding, or `fused` with it, with several layers or with dropout of states; or
            embeddings are to be shared by two vocabularies.
    """
    return _luong(
        "luong_local_m_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.GeneralScore(units, name="score"),
        embedding_dim=embedding_dim,
        units=units,
        encoder_units=encoder_units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        window=layers.LocalMonotonicWindow(width, name="window"),
    )


@register
def luong_local_p_lstm(
    source: Any,
    target: Any = None,
    *,
    embedding_dim: int = 256,
    units: int = 256,
    encoder_units: int | None = None,
    num_layers: int = 1,
    width: int = 10,
    input_feeding: bool = False,
    coverage: float | None = None,
    fused: bool = False,
    dropout: float = 0.2,
    state_dropout: float = 0.0,
    tie_embeddings: bool = False,
    share_embeddings: bool = False,
) -> Seq2Seq:
    """Attention after an LSTM cell, within the predictive window.

    e_{t,i} = s_t^T W h_i for i within D words of p_t = S sigmoid(v^T tanh(W_p s_t)), the weights
    times a Gaussian around p_t.

    Source: Luong, Pham and Manning (2015), "Effective approaches to attention-based neural machine
    translation", section 3.2. The paper's sizes are embedding_dim=1000, units=1000, num_layers=4.

    Args:
        source: a tokenizer, or the source vocabulary's size where only ids are fed.
        target: likewise; None shares the source's.
        embedding_dim: size of an embedded word.
        units: size of the decoder's state.
        encoder_units: size of the annotations, twice that of each direction of the encoder; even.
            None for `units`, with the encoder's last states as the decoder's first; at another
            size a dense layer makes them.
        num_layers: of the encoder and of the decoder's cell; more than one add to what they read.
        width: D, source words to each side of the window's middle.
        input_feeding: whether the attentional state is fed to the cell at the next word.
        coverage: what the loss of coverage counts, 0 for coverage without it; None for an attention
            that forgets where it looked. Small from the start, as 0.1; See et al. (2017) add it,
            at 1, to a trained model.
        fused: whether the decoder's cell is a recurrent layer of Keras, which a GPU runs by cuDNN,
            see `kerasnmt.layers.FusedCell`; without input feeding and with one layer.
        dropout: share of the features of embedded words, of the encoder's layers and of the readout
            that is dropped in training.
        state_dropout: share of the features of the recurrent cells' states that is dropped in
            training, with one mask for all steps, see `kerasnmt.layers.StateDropout`;
            not with `fused`.
        tie_embeddings: whether the target embeddings are the output projection as well.
        share_embeddings: whether the words of the source are embedded by the target embeddings; for
            one tokenizer (or size) on both sides.

    Returns:
        a `Seq2Seq`, not compiled.

    Raises:
        ValueError: the encoder's units are odd, `num_layers` is less than 1, coverage without input
            feeding, or `fused` with it, with several layers or with dropout of states; or
            embeddings are to be shared by two vocabularies.
    """
    return _luong(
        "luong_local_p_lstm",
        source,
        target,
        layers.LSTMCell,
        layers.GeneralScore(units, name="score"),
        embedding_dim=embedding_dim,
        units=units,
        encoder_units=encoder_units,
        num_layers=num_layers,
        input_feeding=input_feeding,
        coverage=coverage,
        fused=fused,
        dropout=dropout,
        state_dropout=state_dropout,
        tie_embeddings=tie_embeddings,
        share_embeddings=share_embeddings,
        window=layers.LocalPredictiveWindow(units, width, name="window"),
    )


def _luong(
    name: str,
    source: Any,
    target: Any,
    cell: type[keras.layers.Layer],
    score: keras.layers.Layer,
    *,
    embedding_dim: int,
    units: int,
    num_layers: int,
    input_feeding: bool,
    coverage: float | None,
    fused: bool,
    state_dropout: float,
    encoder_units: int | None = None,
    window: keras.layers.Layer | None = None,
    **options,
) -> Seq2Seq:
    """Put a score and a window into Luong's decoder."""
    name_of_units = "units" if encoder_units is None else "encoder_units"
    encoder_units = units if encoder_units is None else encoder_units
    if encoder_units < 2 or encoder_units % 2:
        raise ValueError(
            f"Expected {name_of_units} even and above 0: each direction of the encoder has half. "
            f"Received: {name_of_units}={encoder_units}"
        )
    check_num_layers(num_layers)
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
    attention = layers.Attention(score, window, coverage_layer(coverage), name="attention")
    decoder_cell, readout = (
        (layers.InputFeedingDecoderCell, layers.StateReadout(name="readout"))
        if input_feeding
        else (layers.LuongDecoderCell, layers.AttentionalReadout(embedding_dim, name="readout"))
    )
    recurrent_cell = fused_cell(cell, units) if fused else stack(cell, units, num_layers)
    return recurrent_model(
        name,
        source,
        target,
        encoder_layers=[
            layers.BidirectionalLayer(
                cell(encoder_units // 2, name="cell"), state_dropout, name=f"layer_{number}"
            )
            for number in range(num_layers)
        ],
        bridge=layers.LastStateBridge(name="bridge")
        if encoder_units == units
        else layers.DenseBridge(recurrent_cell.state_size, name="bridge"),
        decoder_cell=decoder_cell(recurrent_cell, attention, state_dropout, name="cell"),
        readout=readout,
        embedding_dim=embedding_dim,
        embedding_scale=LARGE_EMBEDDINGS,
        residual=True,
        **options,
    )

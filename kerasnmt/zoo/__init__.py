"""The zoo: every model of the library, by name."""

from kerasnmt.zoo.bahdanau import bahdanau_gru, bahdanau_lstm, concat_gru, dense_scorer_gru
from kerasnmt.zoo.captions import show_attend_tell_lstm
from kerasnmt.zoo.context import context_attention_gru
from kerasnmt.zoo.encoder_decoder import encoder_decoder_gru, encoder_decoder_lstm
from kerasnmt.zoo.history import history_attention_gru
from kerasnmt.zoo.luong import (
    luong_concat_lstm,
    luong_cosine_lstm,
    luong_dot_lstm,
    luong_general_gru,
    luong_general_lstm,
    luong_local_m_lstm,
    luong_local_p_lstm,
    luong_location_lstm,
    luong_scaled_dot_lstm,
)
from kerasnmt.zoo.memory import memory_network
from kerasnmt.zoo.pointer import (
    pointer_generator_gru,
    pointer_generator_lstm,
    pointer_network_lstm,
)
from kerasnmt.zoo.registry import get_model, list_models
from kerasnmt.zoo.transformer import transformer_base, transformer_tiny

__all__ = [
    "bahdanau_gru",
    "bahdanau_lstm",
    "concat_gru",
    "context_attention_gru",
    "dense_scorer_gru",
    "encoder_decoder_gru",
    "encoder_decoder_lstm",
    "get_model",
    "history_attention_gru",
    "list_models",
    "luong_concat_lstm",
    "luong_cosine_lstm",
    "luong_dot_lstm",
    "luong_general_gru",
    "luong_general_lstm",
    "luong_local_m_lstm",
    "luong_local_p_lstm",
    "luong_location_lstm",
    "luong_scaled_dot_lstm",
    "memory_network",
    "pointer_generator_gru",
    "pointer_generator_lstm",
    "pointer_network_lstm",
    "show_attend_tell_lstm",
    "transformer_base",
    "transformer_tiny",
]

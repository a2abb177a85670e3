"""Layers of attention-based encoder-decoder models, in `keras.ops` only."""

from kerasnmt.layers.additive_score import AdditiveScore
from kerasnmt.layers.attention import Attention
from kerasnmt.layers.backward_state_bridge import BackwardStateBridge
from kerasnmt.layers.bahdanau_attention import BahdanauAttention
from kerasnmt.layers.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.gru_cell import GRUCell
from kerasnmt.layers.masked_softmax import masked_softmax
from kerasnmt.layers.maxout_readout import MaxoutReadout
from kerasnmt.layers.recurrent_decoder import RecurrentDecoder
from kerasnmt.layers.recurrent_encoder import RecurrentEncoder
from kerasnmt.layers.tied_vocabulary_projection import TiedVocabularyProjection
from kerasnmt.layers.token_log_probability import token_log_probability
from kerasnmt.layers.vocabulary_projection import VocabularyProjection

__all__ = [
    "AdditiveScore",
    "Attention",
    "BackwardStateBridge",
    "BahdanauAttention",
    "BahdanauDecoderCell",
    "GRUCell",
    "MaxoutReadout",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "TiedVocabularyProjection",
    "VocabularyProjection",
    "build_once",
    "masked_softmax",
    "token_log_probability",
]

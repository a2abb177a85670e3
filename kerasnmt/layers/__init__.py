"""Layers of attention-based encoder-decoder models, in `keras.ops` only."""

from kerasnmt.layers.additive_score import AdditiveScore
from kerasnmt.layers.attention import Attention
from kerasnmt.layers.backward_state_bridge import BackwardStateBridge
from kerasnmt.layers.bahdanau_attention import BahdanauAttention
from kerasnmt.layers.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.cosine_score import CosineScore
from kerasnmt.layers.dot_score import DotScore
from kerasnmt.layers.general_score import GeneralScore
from kerasnmt.layers.gru_cell import GRUCell
from kerasnmt.layers.local_monotonic_window import LocalMonotonicWindow
from kerasnmt.layers.local_predictive_window import LocalPredictiveWindow
from kerasnmt.layers.location_score import LocationScore
from kerasnmt.layers.lstm_cell import LSTMCell
from kerasnmt.layers.masked_softmax import masked_softmax
from kerasnmt.layers.maxout_readout import MaxoutReadout
from kerasnmt.layers.recurrent_decoder import RecurrentDecoder
from kerasnmt.layers.recurrent_encoder import RecurrentEncoder
from kerasnmt.layers.scaled_dot_score import ScaledDotScore
from kerasnmt.layers.simple_rnn_cell import SimpleRNNCell
from kerasnmt.layers.tied_vocabulary_projection import TiedVocabularyProjection
from kerasnmt.layers.time_distributed_dense_scorer import TimeDistributedDenseScorer
from kerasnmt.layers.token_log_probability import token_log_probability
from kerasnmt.layers.vocabulary_projection import VocabularyProjection

__all__ = [
    "AdditiveScore",
    "Attention",
    "BackwardStateBridge",
    "BahdanauAttention",
    "BahdanauDecoderCell",
    "CosineScore",
    "DotScore",
    "GRUCell",
    "GeneralScore",
    "LSTMCell",
    "LocalMonotonicWindow",
    "LocalPredictiveWindow",
    "LocationScore",
    "MaxoutReadout",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "ScaledDotScore",
    "SimpleRNNCell",
    "TiedVocabularyProjection",
    "TimeDistributedDenseScorer",
    "VocabularyProjection",
    "build_once",
    "masked_softmax",
    "token_log_probability",
]

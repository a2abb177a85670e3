"""Layers of attention-based models, in `keras.ops` only."""

from kerasnmt.layers.additive_score import AdditiveScore
from kerasnmt.layers.adjacent_memories import AdjacentMemories
from kerasnmt.layers.attention import Attention
from kerasnmt.layers.attentional_readout import AttentionalReadout
from kerasnmt.layers.backward_layer import BackwardLayer
from kerasnmt.layers.backward_state_bridge import BackwardStateBridge
from kerasnmt.layers.bag_of_words import BagOfWords
from kerasnmt.layers.bahdanau_attention import BahdanauAttention
from kerasnmt.layers.bahdanau_decoder_cell import BahdanauDecoderCell
from kerasnmt.layers.bidirectional_layer import BidirectionalLayer
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.concat_readout import ConcatReadout
from kerasnmt.layers.context_decoder import ContextDecoder
from kerasnmt.layers.context_decoder_cell import ContextDecoderCell
from kerasnmt.layers.context_encoder import ContextEncoder
from kerasnmt.layers.context_gate import ContextGate
from kerasnmt.layers.context_pointer_decoder import ContextPointerDecoder
from kerasnmt.layers.cosine_score import CosineScore
from kerasnmt.layers.coverage import Coverage
from kerasnmt.layers.deep_output_readout import DeepOutputReadout
from kerasnmt.layers.dense_bridge import DenseBridge
from kerasnmt.layers.dot_score import DotScore
from kerasnmt.layers.doubly_stochastic import DoublyStochastic
from kerasnmt.layers.feed_forward import FeedForward
from kerasnmt.layers.first_state_decoder_cell import FirstStateDecoderCell
from kerasnmt.layers.forward_layer import ForwardLayer
from kerasnmt.layers.fused_cell import FusedCell
from kerasnmt.layers.gated_decoder_cell import GatedDecoderCell
from kerasnmt.layers.general_score import GeneralScore
from kerasnmt.layers.gru_cell import GRUCell
from kerasnmt.layers.history_decoder_cell import HistoryDecoderCell
from kerasnmt.layers.image_encoder import ImageEncoder
from kerasnmt.layers.input_feeding_decoder_cell import InputFeedingDecoderCell
from kerasnmt.layers.last_state_bridge import LastStateBridge
from kerasnmt.layers.layerwise_memories import LayerwiseMemories
from kerasnmt.layers.learned_positions import LearnedPositions
from kerasnmt.layers.local_monotonic_window import LocalMonotonicWindow
from kerasnmt.layers.local_predictive_window import LocalPredictiveWindow
from kerasnmt.layers.location_score import LocationScore
from kerasnmt.layers.lstm_cell import LSTMCell
from kerasnmt.layers.luong_decoder_cell import LuongDecoderCell
from kerasnmt.layers.masked_softmax import masked_softmax
from kerasnmt.layers.maxout_readout import MaxoutReadout
from kerasnmt.layers.memory_embedding import MemoryEmbedding
from kerasnmt.layers.memory_hop import MemoryHop
from kerasnmt.layers.multi_head_attention import MultiHeadAttention
from kerasnmt.layers.pixel_scaling import PixelScaling
from kerasnmt.layers.pointer_decoder import PointerDecoder
from kerasnmt.layers.pointer_generator_decoder import PointerGeneratorDecoder
from kerasnmt.layers.position_encoding import PositionEncoding
from kerasnmt.layers.post_norm import PostNorm
from kerasnmt.layers.pre_norm import PreNorm
from kerasnmt.layers.recurrent_decoder import RecurrentDecoder
from kerasnmt.layers.recurrent_encoder import RecurrentEncoder
from kerasnmt.layers.scaled_dot_score import ScaledDotScore
from kerasnmt.layers.score import Score
from kerasnmt.layers.sentence_ages import SentenceAges
from kerasnmt.layers.sigmoid_gate import SigmoidGate
from kerasnmt.layers.simple_rnn_cell import SimpleRNNCell
from kerasnmt.layers.sinusoidal_positions import SinusoidalPositions
from kerasnmt.layers.softmax_gate import SoftmaxGate
from kerasnmt.layers.stacked_cell import StackedCell
from kerasnmt.layers.state_dropout import StateDropout
from kerasnmt.layers.state_readout import StateReadout
from kerasnmt.layers.thought_vector_decoder_cell import ThoughtVectorDecoderCell
from kerasnmt.layers.tied_vocabulary_projection import TiedVocabularyProjection
from kerasnmt.layers.time_cache import TimeCache
from kerasnmt.layers.time_distributed_dense_scorer import TimeDistributedDenseScorer
from kerasnmt.layers.token_log_probability import token_log_probability
from kerasnmt.layers.transformer_decoder import TransformerDecoder
from kerasnmt.layers.transformer_decoder_layer import TransformerDecoderLayer
from kerasnmt.layers.transformer_encoder import TransformerEncoder
from kerasnmt.layers.transformer_encoder_layer import TransformerEncoderLayer
from kerasnmt.layers.vocabulary_projection import VocabularyProjection
from kerasnmt.layers.zero_bridge import ZeroBridge

__all__ = [
    "AdditiveScore",
    "AdjacentMemories",
    "Attention",
    "AttentionalReadout",
    "BackwardLayer",
    "BackwardStateBridge",
    "BagOfWords",
    "BahdanauAttention",
    "BahdanauDecoderCell",
    "BidirectionalLayer",
    "ConcatReadout",
    "ContextDecoder",
    "ContextDecoderCell",
    "ContextEncoder",
    "ContextGate",
    "ContextPointerDecoder",
    "CosineScore",
    "Coverage",
    "DeepOutputReadout",
    "DenseBridge",
    "DotScore",
    "DoublyStochastic",
    "FeedForward",
    "FirstStateDecoderCell",
    "ForwardLayer",
    "FusedCell",
    "GRUCell",
    "GatedDecoderCell",
    "GeneralScore",
    "HistoryDecoderCell",
    "ImageEncoder",
    "InputFeedingDecoderCell",
    "LSTMCell",
    "LastStateBridge",
    "LayerwiseMemories",
    "LearnedPositions",
    "LocalMonotonicWindow",
    "LocalPredictiveWindow",
    "LocationScore",
    "LuongDecoderCell",
    "MaxoutReadout",
    "MemoryEmbedding",
    "MemoryHop",
    "MultiHeadAttention",
    "PixelScaling",
    "PointerDecoder",
    "PointerGeneratorDecoder",
    "PositionEncoding",
    "PostNorm",
    "PreNorm",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "ScaledDotScore",
    "Score",
    "SentenceAges",
    "SigmoidGate",
    "SimpleRNNCell",
    "SinusoidalPositions",
    "SoftmaxGate",
    "StackedCell",
    "StateDropout",
    "StateReadout",
    "ThoughtVectorDecoderCell",
    "TiedVocabularyProjection",
    "TimeCache",
    "TimeDistributedDenseScorer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "VocabularyProjection",
    "ZeroBridge",
    "build_once",
    "masked_softmax",
    "token_log_probability",
]

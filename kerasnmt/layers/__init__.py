"""Layers of attention-based models, which use only `keras.ops`."""

from kerasnmt.layers.attention.attention import Attention, BahdanauAttention
from kerasnmt.layers.attention.base_attention import BaseAttention
from kerasnmt.layers.attention.coverage import Coverage, DoublyStochastic, LocationFeatures
from kerasnmt.layers.attention.gaussian_attention import GaussianAttention
from kerasnmt.layers.attention.masked_softmax import masked_softmax
from kerasnmt.layers.attention.monotonic_attention import MonotonicAttention
from kerasnmt.layers.attention.normalizers import (
    Entmax,
    Entmax15,
    Normalizer,
    Softmax,
    Sparsemax,
)
from kerasnmt.layers.attention.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    LocationScore,
    ScaledDotScore,
    Score,
)
from kerasnmt.layers.attention.time_distributed_dense_scorer import TimeDistributedDenseScorer
from kerasnmt.layers.attention.windows import LocalMonotonicWindow, LocalPredictiveWindow
from kerasnmt.layers.cells.fused_cell import FusedCell
from kerasnmt.layers.cells.normalized_cells import NormalizedGRUCell, NormalizedLSTMCell
from kerasnmt.layers.cells.recurrent_cells import GRUCell, LSTMCell, SimpleRNNCell
from kerasnmt.layers.cells.stacked_cell import StackedCell
from kerasnmt.layers.cells.state_dropout import StateDropout
from kerasnmt.layers.cells.transition_cell import TransitionCell
from kerasnmt.layers.composite import build_once
from kerasnmt.layers.decoders.bahdanau_decoder_cell import BahdanauDecoderCell, GatedDecoderCell
from kerasnmt.layers.decoders.conditional_decoder_cell import ConditionalDecoderCell
from kerasnmt.layers.decoders.context_decoder import ContextDecoder, ContextDecoderCell
from kerasnmt.layers.decoders.decoder import Decoder
from kerasnmt.layers.decoders.decoder_cell import (
    DecoderCell,
    FirstStateDecoderCell,
    ThoughtVectorDecoderCell,
)
from kerasnmt.layers.decoders.entmax_loss import entmax_loss
from kerasnmt.layers.decoders.gates import ContextGate, Gate, SigmoidGate, SoftmaxGate
from kerasnmt.layers.decoders.generators import TiedVocabularyProjection, VocabularyProjection
from kerasnmt.layers.decoders.hard_attention_decoder import HardAttentionDecoder
from kerasnmt.layers.decoders.history_decoder_cell import HistoryDecoderCell
from kerasnmt.layers.decoders.latent_alignments import (
    IndependentAlignment,
    JumpAlignment,
    LatentAlignment,
    MonotonicAlignment,
    ScoredAlignment,
)
from kerasnmt.layers.decoders.luong_decoder_cell import InputFeedingDecoderCell, LuongDecoderCell
from kerasnmt.layers.decoders.pointer_decoder import PointerDecoder
from kerasnmt.layers.decoders.pointer_generator_decoder import (
    ContextPointerDecoder,
    PointerGeneratorDecoder,
)
from kerasnmt.layers.decoders.readouts import (
    AttentionalReadout,
    ConcatReadout,
    DeepOutputReadout,
    MaxoutReadout,
    Readout,
    StateReadout,
    TanhReadout,
)
from kerasnmt.layers.decoders.recurrent_decoder import RecurrentDecoder
from kerasnmt.layers.decoders.token_probability import Targets, TokenProbability
from kerasnmt.layers.decoders.upper_layer import UpperLayer
from kerasnmt.layers.dropout import ByteDropout
from kerasnmt.layers.encoders.bridges import (
    BackwardStateBridge,
    DenseBridge,
    LastStateBridge,
    ZeroBridge,
)
from kerasnmt.layers.encoders.context_encoder import ContextEncoder
from kerasnmt.layers.encoders.image_encoder import ImageEncoder, PixelScaling
from kerasnmt.layers.encoders.recurrent_encoder import RecurrentEncoder
from kerasnmt.layers.encoders.recurrent_layers import (
    BackwardLayer,
    BidirectionalLayer,
    ForwardLayer,
)
from kerasnmt.layers.encoders.tag_features import TagFeatures
from kerasnmt.layers.memory.encodings import BagOfWords, PositionEncoding
from kerasnmt.layers.memory.memories import (
    AdjacentMemories,
    LayerwiseMemories,
    MemoryEmbedding,
    SentenceAges,
)
from kerasnmt.layers.memory.memory_hop import MemoryHop
from kerasnmt.layers.normalization import LayerNormalization
from kerasnmt.layers.transformer.constant_states import SSRU, AverageAttention
from kerasnmt.layers.transformer.feed_forward import FeedForward
from kerasnmt.layers.transformer.multi_head_attention import (
    MultiHeadAttention,
    MultiHeadSelfAttention,
)
from kerasnmt.layers.transformer.positions import LearnedPositions, SinusoidalPositions
from kerasnmt.layers.transformer.residuals import PostNorm, PreNorm
from kerasnmt.layers.transformer.transformer_decoder import (
    TransformerDecoder,
    TransformerDecoderLayer,
)
from kerasnmt.layers.transformer.transformer_encoder import (
    TransformerEncoder,
    TransformerEncoderLayer,
)
from kerasnmt.speed.log_probability import token_log_probability
from kerasnmt.time_cache import TimeCache

__all__ = [
    "SSRU",
    "AdditiveScore",
    "AdjacentMemories",
    "Attention",
    "AttentionalReadout",
    "AverageAttention",
    "BackwardLayer",
    "BackwardStateBridge",
    "BagOfWords",
    "BahdanauAttention",
    "BahdanauDecoderCell",
    "BaseAttention",
    "BidirectionalLayer",
    "ByteDropout",
    "ConcatReadout",
    "ConditionalDecoderCell",
    "ContextDecoder",
    "ContextDecoderCell",
    "ContextEncoder",
    "ContextGate",
    "ContextPointerDecoder",
    "CosineScore",
    "Coverage",
    "Decoder",
    "DecoderCell",
    "DeepOutputReadout",
    "DenseBridge",
    "DotScore",
    "DoublyStochastic",
    "Entmax",
    "Entmax15",
    "FeedForward",
    "FirstStateDecoderCell",
    "ForwardLayer",
    "FusedCell",
    "GRUCell",
    "Gate",
    "GatedDecoderCell",
    "GaussianAttention",
    "GeneralScore",
    "HardAttentionDecoder",
    "HistoryDecoderCell",
    "ImageEncoder",
    "IndependentAlignment",
    "InputFeedingDecoderCell",
    "JumpAlignment",
    "LSTMCell",
    "LastStateBridge",
    "LatentAlignment",
    "LayerNormalization",
    "LayerwiseMemories",
    "LearnedPositions",
    "LocalMonotonicWindow",
    "LocalPredictiveWindow",
    "LocationFeatures",
    "LocationScore",
    "LuongDecoderCell",
    "MaxoutReadout",
    "MemoryEmbedding",
    "MemoryHop",
    "MonotonicAlignment",
    "MonotonicAttention",
    "MultiHeadAttention",
    "MultiHeadSelfAttention",
    "NormalizedGRUCell",
    "NormalizedLSTMCell",
    "Normalizer",
    "PixelScaling",
    "PointerDecoder",
    "PointerGeneratorDecoder",
    "PositionEncoding",
    "PostNorm",
    "PreNorm",
    "Readout",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "ScaledDotScore",
    "Score",
    "ScoredAlignment",
    "SentenceAges",
    "SigmoidGate",
    "SimpleRNNCell",
    "SinusoidalPositions",
    "Softmax",
    "SoftmaxGate",
    "Sparsemax",
    "StackedCell",
    "StateDropout",
    "StateReadout",
    "TagFeatures",
    "TanhReadout",
    "Targets",
    "ThoughtVectorDecoderCell",
    "TiedVocabularyProjection",
    "TimeCache",
    "TimeDistributedDenseScorer",
    "TokenProbability",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TransitionCell",
    "UpperLayer",
    "VocabularyProjection",
    "ZeroBridge",
    "build_once",
    "entmax_loss",
    "masked_softmax",
    "token_log_probability",
]

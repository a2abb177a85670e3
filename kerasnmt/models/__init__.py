"""Models that translate, caption and answer; ensembles; losses and metrics."""

from kerasnmt.models.caption_model import CaptionModel
from kerasnmt.models.encoder_decoder import EncoderDecoder
from kerasnmt.models.ensemble import Ensemble
from kerasnmt.models.in_float32 import in_float32
from kerasnmt.models.loading import load_model
from kerasnmt.models.memory_network import MemoryNetwork
from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.search_model import SearchModel
from kerasnmt.models.seq2seq import Seq2Seq
from kerasnmt.models.text_model import TextModel
from kerasnmt.models.translation_model import TranslationModel

__all__ = [
    "CaptionModel",
    "EncoderDecoder",
    "Ensemble",
    "MemoryNetwork",
    "Perplexity",
    "SearchModel",
    "Seq2Seq",
    "TextModel",
    "TranslationModel",
    "in_float32",
    "load_model",
]

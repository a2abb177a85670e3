"""Models of translation and of captions, ensembles, memory networks; tokenizers at the edges."""

from kerasnmt.models.caption_model import CaptionModel
from kerasnmt.models.ensemble import Ensemble
from kerasnmt.models.in_float32 import in_float32
from kerasnmt.models.loading import load_model
from kerasnmt.models.memory_network import MemoryNetwork
from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.seq2seq import Seq2Seq

__all__ = [
    "CaptionModel",
    "Ensemble",
    "MemoryNetwork",
    "Perplexity",
    "Seq2Seq",
    "in_float32",
    "load_model",
]

"""Models of translation, ensembles of them, and memory networks, with tokenizers at the edges."""

from kerasnmt.models.ensemble import Ensemble
from kerasnmt.models.memory_network import MemoryNetwork
from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.seq2seq import Seq2Seq

__all__ = ["Ensemble", "MemoryNetwork", "Perplexity", "Seq2Seq"]

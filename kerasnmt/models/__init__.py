"""Models: an encoder, a bridge and a decoder, with tokenizers at the edges; and ensembles."""

from kerasnmt.models.ensemble import Ensemble
from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.seq2seq import Seq2Seq

__all__ = ["Ensemble", "Perplexity", "Seq2Seq"]

"""Models: an encoder, a bridge and a decoder, with tokenizers at the edges."""

from kerasnmt.models.perplexity import Perplexity
from kerasnmt.models.seq2seq import Seq2Seq

__all__ = ["Perplexity", "Seq2Seq"]

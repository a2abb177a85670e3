"""The translator that asks exports and servers, and what it returns."""

from kerasnmt.tasks.sentence_attention import SentenceAttention
from kerasnmt.tasks.translator import Translator

__all__ = ["SentenceAttention", "Translator"]

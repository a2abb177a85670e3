"""The built-in corpus: English and German sentence pairs without end and without downloads."""

from kerasnmt.data.builtin.corpus import SyntheticPair, builtin_corpus

__all__ = ["SyntheticPair", "builtin_corpus"]

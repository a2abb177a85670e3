"""The built-in corpus: unlimited English and German sentence pairs without downloads."""

from kerasnmt.data.builtin.corpus import SyntheticPair, builtin_corpus

__all__ = ["SyntheticPair", "builtin_corpus"]

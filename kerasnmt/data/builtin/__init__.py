"""Built-in corpus of English and German sentence pairs, unlimited and without downloads."""

from kerasnmt.data.builtin.corpus import SyntheticPair, builtin_corpus

__all__ = ["SyntheticPair", "builtin_corpus"]

"""Tokenizers that run in a TensorFlow graph, and the training of their vocabularies."""

from kerasnmt.extras import attach

# `word_indices`, `guess_kind` and `with_tags` need no TensorFlow.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

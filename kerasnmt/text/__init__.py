"""Tokenizers that run in a TensorFlow graph, and the training of their vocabularies."""

import lazy_loader

# `word_indices` and `guess_kind` need no TensorFlow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

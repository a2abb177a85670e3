"""Parallel text, stories and captions, their batches of ids, and built-in corpora."""

from kerasnmt.extras import attach

# The built-in corpus does not need TensorFlow.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

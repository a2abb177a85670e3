"""Parallel text, stories and captions, their batches of ids, and built-in corpora."""

import lazy_loader

# The built-in corpus does not need TensorFlow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

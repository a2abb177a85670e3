"""Tasks, which turn requests such as texts or images into answers, on TensorFlow and JAX."""

import lazy_loader

# A client of a server needs no TensorFlow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

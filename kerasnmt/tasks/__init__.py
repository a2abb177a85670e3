"""Tasks, which turn requests such as texts or images into answers, on TensorFlow and JAX."""

from kerasnmt.extras import attach

# A client of a server needs no TensorFlow.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

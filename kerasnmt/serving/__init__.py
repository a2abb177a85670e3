"""Exports for TF Serving, other programs and browsers, their check, clients, and a server."""

from kerasnmt.extras import attach

# The child process of `check_export` must not import TensorFlow.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

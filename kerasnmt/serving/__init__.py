"""Exports for TF Serving, CTranslate2 and LiteRT, their check, clients, and a server."""

import lazy_loader

# The child process of `check_export` must not import TensorFlow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

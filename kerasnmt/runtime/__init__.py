"""Models on ONNX Runtime, without TensorFlow and Keras."""

from kerasnmt.runtime.search import search

__all__ = ["search"]

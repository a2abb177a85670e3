"""Attention-based sequence-to-sequence models for Keras 3."""

from kerasnmt.version import __version__

__all__ = ["__version__"]

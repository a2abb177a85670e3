"""Bulk translation with Apache Beam, which the extra `beam` installs."""

from kerasnmt.extras import attach

# The files of a job are planned without TensorFlow.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Bulk translation with Apache Beam, which the extra `beam` installs."""

import lazy_loader

# The files of a job are planned without TensorFlow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

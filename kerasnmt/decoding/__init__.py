"""Search for the best outputs of a step function, independent of layers and models."""

import lazy_loader

# Importing the options of a search does not import Keras.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Search for the best outputs of a step function, independent of layers and models."""

from kerasnmt.extras import attach

# Importing the options of a search does not import Keras.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

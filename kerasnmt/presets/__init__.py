"""Presets: folders with a trained model, their cards, and how they are found."""

from kerasnmt.extras import attach

# The names of shipped presets need no Keras.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

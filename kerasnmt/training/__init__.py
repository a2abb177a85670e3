"""Recipes, training from a recipe, and callbacks for any `model.fit`."""

from kerasnmt.extras import attach

# Reading a recipe needs no TensorFlow.
__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Recipes, training from a recipe, and callbacks for any `model.fit`."""

import lazy_loader

# Reading a recipe needs no TensorFlow.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

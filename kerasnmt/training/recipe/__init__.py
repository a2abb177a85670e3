"""Recipes: their schema, the reading of YAML, and error messages."""

from kerasnmt.training.recipe.schema import Recipe

__all__ = ["Recipe"]

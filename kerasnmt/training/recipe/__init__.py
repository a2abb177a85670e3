"""Recipes: their schema, the reading of YAML, and error messages."""

from kerasnmt.training.recipe.schema import Recipe, search_options

__all__ = ["Recipe", "search_options"]

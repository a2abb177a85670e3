"""Recipes: their schema, how YAML is read, and what errors say."""

from kerasnmt.training.recipe.schema import Recipe, search_options

__all__ = ["Recipe", "search_options"]

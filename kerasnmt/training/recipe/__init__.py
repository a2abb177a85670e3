"""Recipes: their schema, how YAML is read, and what errors say."""

from kerasnmt.training.recipe.schema import Recipe

__all__ = ["Recipe"]

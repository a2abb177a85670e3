"""Layers of a Transformer."""

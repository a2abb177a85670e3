"""Layers of memory networks."""

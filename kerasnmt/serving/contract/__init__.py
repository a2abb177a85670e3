"""Contracts of the kinds of exports with their clients."""

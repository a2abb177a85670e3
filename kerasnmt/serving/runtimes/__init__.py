"""Exports, and the programs that run them."""

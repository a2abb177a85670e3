"""Attention and its parts: scores, windows and coverage."""

"""Scores, windows and coverage, and the attention made of them."""

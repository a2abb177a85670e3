"""Attention and its parts: scores, normalizers, windows and coverage."""

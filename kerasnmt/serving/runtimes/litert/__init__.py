"""LiteRT, which runs on small devices."""

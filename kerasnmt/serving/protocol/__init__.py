"""Formats of signatures and requests: protobuf, SavedModel graphs and REST metadata."""

"""Clients of a model server."""

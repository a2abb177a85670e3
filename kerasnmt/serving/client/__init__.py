"""Clients of a server of models."""

"""Many texts through a model, an export or a server."""

"""The layers of a memory network."""

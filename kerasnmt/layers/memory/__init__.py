"""The layers of memory networks."""

"""How signatures and requests are written: protobuf, SavedModel graphs, REST metadata."""

"""Callbacks for any `model.fit`; `kerasnmt.training` has their names."""

"""Callbacks for any `model.fit`, which `kerasnmt.training` exports."""

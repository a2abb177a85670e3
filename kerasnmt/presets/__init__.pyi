"""Presets: folders with a trained model, their cards, and how they are found."""

from .finding import from_preset, get_preset, list_presets
from .preset import Preset

__all__ = ["Preset", "from_preset", "get_preset", "list_presets"]

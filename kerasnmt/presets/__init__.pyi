"""Presets: folders with a trained model, their cards, and how they are found."""

from .choosing import find_presets
from .finding import from_preset, get_preset, list_presets
from .preset import Preset

__all__ = ["Preset", "find_presets", "from_preset", "get_preset", "list_presets"]

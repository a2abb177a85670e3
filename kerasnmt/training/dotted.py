"""Nested values with dotted names."""

from collections.abc import Mapping
from typing import Any


def dotted(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of a nested mapping, with dotted names such as `model.units`."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= dotted(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat

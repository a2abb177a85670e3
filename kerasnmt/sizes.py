"""Checks of sizes and numbers, such as the size of a batch."""

from numbers import Integral
from typing import Any


def check_integer(name: str, value: Any) -> None:
    """Raise a `ValueError` unless the argument `name` is an integer of Python or NumPy."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError(f"Expected an integer as {name}. Received: {name}={value!r}.")


def check_size(name: str, value: int, least: int = 1, most: int = 10**7) -> None:
    """Raise a `ValueError` unless a size, the argument `name`, is an integer in range.

    A maximum is needed: for a batch of many millions, TensorFlow would run out of memory and abort.
    """
    check_integer(name, value)
    if not least <= value <= most:
        bound = f"least {least}" if value < least else f"most {most}"
        raise ValueError(f"Expected {name} to be at {bound}. Received: {name}={value}.")

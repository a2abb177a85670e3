"""Checks of batch sizes."""


def check_size(name: str, value: int, least: int = 1, most: int = 10**7) -> None:
    """Raise a `ValueError` unless a size, the argument `name`, is in range.

    A maximum is needed: for a batch of many millions, TensorFlow would run out of memory and abort.
    """
    if not least <= value <= most:
        bound = f"least {least}" if value < least else f"most {most}"
        raise ValueError(f"Expected {name} to be at {bound}. Received: {name}={value}.")

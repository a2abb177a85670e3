"""The sizes that are asked of batches."""


def check_size(name: str, value: int, least: int = 1, most: int = 10**7) -> None:
    """Raises a `ValueError` unless a size, the argument `name`, is in range.

    A batch of many millions is a slip: TensorFlow would end the process, for lack of memory.
    """
    if not least <= value <= most:
        bound = f"least {least}" if value < least else f"most {most}"
        raise ValueError(f"Expected {name} to be at {bound}. Received: {name}={value}.")

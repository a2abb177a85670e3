"""The columns of a request, from whatever holds them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def as_texts(name: str, values: Any) -> list[str]:
    """Return the texts that an argument holds.

    Args:
        name: Name of the argument, for the error.
        values: A list, a tuple, an array, a pandas Series, a generator or a tensor of strings.

    Returns:
        A list of `str`.

    Raises:
        ValueError: If it is one string, or holds something other than text.
    """
    if isinstance(values, str):
        raise ValueError(f"Expected a list of texts. Received: {name}={values!r:.60}, one string.")
    if not isinstance(values, Iterable) or isinstance(values, bytes | Mapping):
        raise ValueError(f"Expected a list of texts. Received: {name}={values!r:.60}")
    if hasattr(values, "__array__") and not isinstance(values, np.ndarray | np.generic):
        values = np.asarray(values).tolist()  # tensors hold bytes
        values = [
            one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values
        ]
    texts = [*values]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise ValueError(
                f"Expected a list of texts. Received: {name} whose item {number} is "
                f"{text!r:.60}, a {type(text).__name__}."
            )
    return [str(text) for text in texts]


def check_same_length(name: str, values: Sequence[Any], others: str, count: int) -> None:
    """Check that a column has as many rows as the first one.

    Args:
        name: Name of the column.
        values: The column.
        others: Name of the first column.
        count: Number of its rows.

    Raises:
        ValueError: If it has not.
    """
    if len(values) != count:
        raise ValueError(
            f"Expected as many {name} as {others}. Received: {count} {others}, {len(values)} "
            f"{name}."
        )

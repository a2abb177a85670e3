"""Refusals of input that would train or search without an error, and wrongly."""

import inspect
from typing import Any

import keras
import numpy as np


def check_integers(name: str, ids: Any) -> None:
    """Make sure that ids are integers.

    Args:
        name: the name of the input, for the error.
        ids: an array, a nested list or a tensor.

    Raises:
        ValueError: they are not.
    """
    dtype = keras.backend.standardize_dtype(getattr(ids, "dtype", None) or np.asarray(ids).dtype)
    if "int" not in dtype:
        raise ValueError(
            f"Expected integers as {name}. Received: {dtype}. Cast them to int32 if they are ids."
        )


def check_ids(name: str, ids: Any, size: int) -> None:
    """Make sure that ids are integers from 0 to below a size.

    Args:
        name: the name of the input, for the error.
        ids: an array, a nested list or a tensor; a tensor in a graph, which has no values yet, is
            not checked.
        size: the number of ids that there are.

    Raises:
        ValueError: they are not.
    """
    try:
        values = np.asarray(ids)
    except (NotImplementedError, TypeError, ValueError):  # a tensor in a graph
        return
    check_integers(name, values)
    if values.size and not 0 <= values.min() <= values.max() < size:
        wrong = values.min() if values.min() < 0 else values.max()
        raise ValueError(
            f"Expected ids from 0 to {size - 1} as {name}. Received: the id {wrong}. Make the ids "
            "with the tokenizers of the model."
        )


def check_takes_logits(loss: Any) -> None:
    """Make sure that a loss of `compile` takes logits where it can also take probabilities.

    Args:
        loss: a name, a function, a `keras.losses.Loss` or None.

    Raises:
        ValueError: it takes probabilities.
    """
    found = keras.losses.get(loss) if isinstance(loss, str) else loss
    if isinstance(found, keras.losses.Loss):
        takes_logits = getattr(found, "from_logits", True)
    elif callable(found):
        parameter = inspect.signature(found).parameters.get("from_logits")
        takes_logits = parameter is None or bool(parameter.default)
    else:
        return
    if not takes_logits:
        name = found.name if isinstance(found, keras.losses.Loss) else found.__name__
        raise ValueError(
            "Expected a loss that takes logits, as the model returns them. "
            f"Received: loss={name} with from_logits=False. Leave loss out for the model's own, or "
            "pass keras.losses.SparseCategoricalCrossentropy(from_logits=True)."
        )

"""Checks of input that would otherwise train or search wrongly without an error."""

import inspect
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np


def check_integers(name: str, ids: Any) -> Any:
    """Check that ids are integers, in rows of one length.

    Args:
        name: the name of the input, for the error.
        ids: an array, a nested list or a tensor.

    Returns:
        the ids; of a list an array.

    Raises:
        ValueError: they are not.
    """
    if isinstance(ids, list | tuple):
        try:
            ids = np.asarray(ids)
        except ValueError:
            raise ValueError(
                f"Expected rows of one length as {name}. Received: rows of several lengths. Pad "
                "them on the right with 0."
            ) from None
    dtype = getattr(ids.dtype, "name", str(ids.dtype))  # that of PyTorch has no name
    if "int" not in dtype:
        raise ValueError(
            f"Expected integers as {name}. Received: {dtype}. Cast them to int32 if they are ids."
        )
    return ids


def check_ids(name: str, ids: Any, size: int) -> None:
    """Check that ids are integers from 0 to below a size.

    Args:
        name: the name of the input, for the error.
        ids: an array, a nested list or a tensor; a tensor in a graph, which has no values yet, is
            not checked.
        size: the number of ids that there are.

    Raises:
        ValueError: they are not.
    """
    if isinstance(ids, list | tuple):
        ids = check_integers(name, ids)
    try:
        values = np.asarray(ids)
    except (NotImplementedError, TypeError, ValueError, RuntimeError):  # a tensor in a graph
        return
    check_integers(name, values)
    if values.size and not 0 <= values.min() <= values.max() < size:
        wrong = values.min() if values.min() < 0 else values.max()
        raise ValueError(
            f"Expected ids from 0 to {size - 1} as {name}. Received: the id {wrong}. Make the ids "
            "with the tokenizers of the model."
        )


def check_takes_logits(loss: Any) -> None:
    """Check that a loss takes logits, if it can take either logits or probabilities.

    Args:
        loss: as in `keras.Model.compile`: a name, a function, a `keras.losses.Loss`, a structure
            of these, or None.

    Raises:
        ValueError: it takes probabilities.
    """
    if isinstance(loss, Mapping | list | tuple):
        for one in loss.values() if isinstance(loss, Mapping) else loss:
            check_takes_logits(one)
        return
    found = keras.losses.get(loss) if isinstance(loss, str) else loss
    if isinstance(found, keras.losses.Loss):
        takes_logits = getattr(found, "from_logits", True)
    elif inspect.isroutine(found) or hasattr(found, "func"):  # a function, or a partial one
        parameter = inspect.signature(found).parameters.get("from_logits")
        takes_logits = parameter is None or bool(parameter.default)
    else:
        return
    if not takes_logits:
        name = getattr(found, "name", None) or getattr(found, "__name__", repr(found))
        raise ValueError(
            "Expected a loss that takes logits, as the model returns them. "
            f"Received: loss={name} with from_logits=False. Leave loss out for the model's own, or "
            "pass keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)."
        )

"""Checks of arguments that would otherwise train or search wrongly without an error."""

import functools
import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np


def check_integers(name: str, ids: Any) -> Any:
    """Check that ids are integers, in rows of one length.

    Args:
        name: Name of the input, used in error messages.
        ids: An array, a nested list or a tensor.

    Returns:
        The ids. A list becomes an array.

    Raises:
        ValueError: If the ids are not integers, or the rows have several lengths.
    """
    if isinstance(ids, list | tuple):
        try:
            ids = np.asarray(ids)
        except ValueError:
            raise ValueError(
                f"Expected rows of one length as {name}. Received: rows of several lengths. Pad "
                "them on the right with 0."
            ) from None
    dtype = getattr(ids.dtype, "name", str(ids.dtype))  # a dtype of PyTorch has no name
    if "int" not in dtype:
        raise ValueError(
            f"Expected integers as {name}. Received: {dtype}. Cast them to int32 if they are ids."
        )
    return ids


def check_ids(name: str, ids: Any, size: int, shape: str = "[batch, length]") -> Any:
    """Check that ids are integers in [0, size), and their number of axes.

    Args:
        name: Name of the input, used in error messages.
        ids: An array, a nested list or a tensor. A tensor in a graph is not checked, because it has
            no values yet.
        size: Number of ids.
        shape: Names of the axes.

    Returns:
        The ids as an array, or None for a tensor in a graph.

    Raises:
        ValueError: If an id is not an integer, or is out of range, or there are other axes.
    """
    values = _values(name, ids)
    if values is None:
        return None
    if values.ndim != shape.count(",") + 1:
        raise ValueError(
            f"Expected {name} of shape {shape}. Received: the shape {[*values.shape]}. Pass a row "
            "of ids for each item of the batch."
        )
    if values.size and not 0 <= values.min() <= values.max() < size:
        wrong = values.min() if values.min() < 0 else values.max()
        raise ValueError(
            f"Expected ids from 0 to {size - 1} as {name}. Received: the id {wrong}. Make the ids "
            "with the tokenizers of the model."
        )
    return values


def check_prefixes(ids: Any, size: int, rows: int | None, max_length: int) -> None:
    """Check that there is a prefix for each source, and warn if one is longer than a target.

    Args:
        ids: See `check_ids`.
        size: Number of ids.
        rows: Number of sources, or None if it is not known yet.
        max_length: Maximum length of a target.

    Raises:
        ValueError: If an id is wrong, or the number of prefixes.
    """
    values = check_ids("prefix_ids", check_integers("prefix_ids", ids), size)
    if values is None:
        return
    if rows not in (None, len(values)):
        raise ValueError(
            "Expected a row of prefix_ids for each source. Received: "
            f"{rows} sources, {len(values)} rows of prefix_ids."
        )
    if np.any(values[:, max_length:]):
        warnings.warn(
            f"prefix_ids are truncated to {max_length}, the max_length of this search", stacklevel=4
        )


def check_listed(ids: Any) -> None:
    """Check that listed ids begin with the special ids, and are in ascending order.

    Args:
        ids: Integers `[size]`, padded on the right with 0. The values of a tensor in a graph are
            not checked.

    Raises:
        ValueError: If they do not, or are not integers.
    """
    values = _values("listed_ids", check_integers("listed_ids", ids))
    if values is None:
        return
    listed = np.trim_zeros(values, "b").tolist()
    if listed[:4] != [0, 1, 2, 3] or listed != sorted(set(listed)):
        raise ValueError(
            "Expected listed_ids that begin with the special ids 0, 1, 2 and 3, in ascending "
            f"order. Received: {listed!r:.60}. Pass sorted({{0, 1, 2, 3, *ids}})."
        )


def _values(name: str, ids: Any) -> np.ndarray | None:
    """Return integers as an array, or None for a tensor in a graph, which has no values yet."""
    if isinstance(ids, list | tuple):
        ids = check_integers(name, ids)
    try:
        values = np.asarray(ids)
    except (NotImplementedError, TypeError, ValueError, RuntimeError):
        return None
    return check_integers(name, values)


def check_names(inputs: Any, names: Sequence[str], makes_batches: str) -> None:
    """Check that inputs are a dict with some names.

    Args:
        inputs: Inputs of a model.
        names: Names that the dict must have.
        makes_batches: Function of `kerasnmt.data` that makes batches, used in error messages.

    Raises:
        ValueError: If the inputs are not a dict, or a name is missing.
    """
    is_dict = isinstance(inputs, Mapping)
    if not is_dict or any(name not in inputs for name in names):
        received = sorted(inputs) if is_dict else f"a {type(inputs).__name__}"
        if isinstance(inputs, list | tuple) and not inputs:
            received = f"{inputs}, which is empty"
        raise ValueError(
            f"Expected a dict with {', '.join(names)} as inputs. Received: {received}. "
            f"kerasnmt.data.{makes_batches} makes batches of such inputs."
        )


def check_vocabulary(side: str, tokenizer: Any, size: int) -> None:
    """Check that a tokenizer has no more ids than the model.

    Args:
        side: "source" or "target", used in error messages.
        tokenizer: A `kerasnmt.text` tokenizer, or None.
        size: Number of ids of the model.

    Raises:
        ValueError: If the tokenizer has more ids.
    """
    if tokenizer is not None and tokenizer.vocabulary_size > size:
        raise ValueError(
            f"Expected a {side}_tokenizer with at most {size} ids, the number of the model's "
            f"{side} ids. Received: {tokenizer!r}."
        )


def check_takes_logits(loss: Any) -> None:
    """Check that a loss takes logits, if it can take either logits or probabilities.

    Args:
        loss: Argument of `keras.Model.compile`: a name, a function, a `keras.losses.Loss`, a
            structure of these, or None.

    Raises:
        ValueError: If the loss takes probabilities.
    """
    if isinstance(loss, Mapping | list | tuple):
        for one in loss.values() if isinstance(loss, Mapping) else loss:
            check_takes_logits(one)
        return
    function = keras.losses.get(loss) if isinstance(loss, str) else loss
    if isinstance(function, keras.losses.Loss):
        takes_logits = getattr(function, "from_logits", True)
    elif inspect.isroutine(function) or isinstance(function, functools.partial):
        parameter = inspect.signature(function).parameters.get("from_logits")
        takes_logits = parameter is None or bool(parameter.default)
    else:
        return
    if not takes_logits:
        name = getattr(function, "name", None) or getattr(function, "__name__", repr(function))
        raise ValueError(
            "Expected a loss that takes logits, because the model returns logits. "
            f"Received: loss={name} with from_logits=False. Omit loss to use the model's own loss, "
            "or pass keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)."
        )

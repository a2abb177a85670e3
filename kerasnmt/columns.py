"""Columns of texts from lists, arrays, tensors and other containers."""

import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

_MOST = np.finfo("float32").max


def as_texts(name: str, values: Any) -> list[str]:
    """Return the texts of an argument.

    Args:
        name: Name of the argument, used in error messages.
        values: List, tuple, array, tensor, pandas Series, generator or another iterable of strings.

    Returns:
        A list of `str`. Half of a surrogate pair, which UTF-8 cannot encode, becomes U+FFFD.

    Raises:
        ValueError: If the value is a single string, or contains something other than text.
    """
    texts = as_list(name, values, "texts")
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise ValueError(
                f"Expected a list of texts. Received: {name} whose item {number} is "
                f"{_shown(text)}, of type {type(text).__name__}."
            )
    return [*map(without_surrogates, texts)]


def as_string(text: Any) -> Any:
    """Return bytes as `str`, with U+FFFD for those that are not UTF-8, and other values as is."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def without_surrogates(text: str) -> str:
    """Return a text as `str`, where half of a surrogate pair is U+FFFD, the replacement character.

    An array has items of the type `np.str_`.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_weights(name: str, values: Any) -> np.ndarray:
    """Return the weights of an argument.

    Args:
        name: Name of the argument, used in error messages.
        values: List, array, tensor, pandas Series, generator or another iterable of numbers, or of
            rows with one number.

    Returns:
        Float32 `[rows]`.

    Raises:
        ValueError: If the value is not a column of numbers, a number is negative or not finite in
            float32, or all are 0.
    """
    weights = as_list(name, values, "weights")
    for number, weight in enumerate(weights, start=1):
        one = np.asarray(weight)
        if one.dtype.kind not in "biuf" or one.size != 1 or not 0 <= one <= _MOST:
            raise ValueError(
                "Expected a finite weight of at least 0 for each sentence. Received: "
                f"{name} whose item {number} is {_shown(weight)}."
            )
    if weights and not np.any(weights):
        raise ValueError(f"Expected a weight above 0. Received: {name}, whose items are all 0.")
    return np.asarray(weights, "float32").reshape(-1)


def as_list(name: str, values: Any, content: str) -> list[Any]:
    """Return the rows of an argument.

    Args:
        name: Name of the argument, used in error messages.
        values: An iterable, but not a string, bytes, a dict, a set or a DataFrame.
        content: Content of the rows, used in error messages, such as "texts".

    Returns:
        A list of the rows. The strings of a tensor become `str`.

    Raises:
        ValueError: If the value is of another type.
    """
    values = without_tensor(values)
    is_one = isinstance(values, str | bytes | Mapping | Set) or is_data_frame(values)
    if is_one or not isinstance(values, Iterable):
        what = ", one string" if isinstance(values, str) else f", of type {type(values).__name__}"
        raise ValueError(f"Expected a list of {content}. Received: {name}={_shown(values)}{what}.")
    return [*values]


def holds_texts(values: Any) -> bool:
    """Return whether the values are texts or rows of texts, or bytes, not ids or batches.

    Only the first item of a list or tuple is checked. Iterators are not consumed.
    """
    while isinstance(values, list | tuple) and values:
        values = values[0]
        if isinstance(values, Mapping):  # a row, such as {"source": "a", "target": "b"}
            return bool(values) and all(isinstance(text, str | bytes) for text in values.values())
    tensorflow, pandas = sys.modules.get("tensorflow"), sys.modules.get("pandas")
    shards = sys.modules.get("kerasnmt.data.shards")
    if shards is not None and isinstance(values, shards.Shards):
        return True
    if tensorflow is not None and isinstance(values, tensorflow.data.Dataset):
        specs = tensorflow.nest.flatten(values.element_spec)
        text = tensorflow.string
        return all(isinstance(one, tensorflow.TensorSpec) and one.dtype == text for one in specs)
    if pandas is not None and isinstance(values, pandas.DataFrame | pandas.Series):
        return True
    values = without_tensor(values)
    strings = isinstance(values, np.ndarray) and values.dtype.kind in "OSUT"
    return strings or isinstance(values, str | bytes)


def check_same_length(name: str, values: Sequence[Any], others: str, count: int) -> None:
    """Check that a column has as many rows as the first column.

    Args:
        name: Name of the column.
        values: Rows of the column.
        others: Name of the first column.
        count: Number of rows of the first column.

    Raises:
        ValueError: If the numbers differ.
    """
    if len(values) != count:
        raise ValueError(
            f"Expected as many {name} as {others}. Received: {count} {others}, {len(values)} "
            f"{name}."
        )


def first_few(items: Sequence[Any]) -> str:
    """Return the first 20 items with commas between them, and the number of the others."""
    others = f" and {len(items) - 20} more" if len(items) > 20 else ""
    return ", ".join(map(str, items[:20])) + others


def check_same_index(**columns: Any) -> None:
    """Check that the pandas columns among some columns have the same index.

    Columns are paired by order. Those of a filtered or sorted table would be paired wrongly.

    Args:
        **columns: Columns by their names. The index of a tuple of columns is that of the first.

    Raises:
        ValueError: If two indexes differ.
    """
    pandas = sys.modules.get("pandas")  # whoever has a Series has imported it
    if pandas is None:
        return
    first: tuple[str, Any] | None = None
    for name, column in columns.items():
        column = column[0] if isinstance(column, tuple) and column else column
        if not isinstance(column, pandas.Series | pandas.DataFrame):
            continue
        first = first or (name, column.index)
        if not column.index.equals(first[1]):
            raise ValueError(
                f"Expected {first[0]} and {name} with the same index. Received: two pandas columns "
                f"with different indexes. Align them, or pass {name}.tolist() to pair them by "
                "order."
            )


def without_tensor(values: Any) -> Any:
    """Return a tensor as an array, with strings as `str`, and any other value unchanged.

    Bytes that are not UTF-8 become U+FFFD. A tensor or an array without axes is its only value.
    """
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(values, tensorflow.Tensor):
        is_text, values = values.dtype == tensorflow.string, np.asarray(values)
        if is_text:
            decoded = np.vectorize(lambda text: text.decode("utf-8", "replace"), otypes=[object])
            values = np.asarray(decoded(values))
    return values.item() if isinstance(values, np.ndarray) and values.ndim == 0 else values


def is_data_frame(values: Any) -> bool:
    """Return whether a value is a pandas DataFrame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, pandas.DataFrame)


def _shown(value: Any) -> str:
    """Return the beginning of the representation of a value, on one line."""
    return " ".join(repr(value).split())[:60]

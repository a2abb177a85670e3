"""The file of a preset's weights, with matrices in a small number format.

It is a file of Keras, as `save_weights` writes it. In int8 each matrix is a group of `values` and
`scales`, so that Keras does not take the integers for weights.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

from kerasnmt.small_weights import as_float16, as_int8, is_matrix

_INT8 = "int8"
_Write = Callable[[h5py.Group, str, Any], None]


def write_weights(model: keras.Model, path: Path, kind: str) -> None:
    """Write the weights of a model.

    Args:
        model: The model.
        path: The file, whose name ends in ".weights.h5".
        kind: A number format, one of `FORMATS`.

    Raises:
        ValueError: If a weight is not finite, or too large for float16.
    """
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, path.name)
        model.save_weights(whole)
        with h5py.File(whole) as file, h5py.File(path, "w") as stored:
            _copy(file, stored, FORMATS[kind])


def read_weights(model: keras.Model, path: Path, kind: str) -> None:
    """Give a model the weights of a file that `write_weights` wrote."""
    if kind != _INT8:
        model.load_weights(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, path.name)
        with h5py.File(path) as stored, h5py.File(whole, "w") as file:
            _copy(stored, file, _from_int8)
        model.load_weights(whole)


def _copy(source: h5py.Group, target: h5py.Group, write: _Write) -> None:
    """Copy a group of weights; `write` writes each of them into its new group."""
    for name, value in source.attrs.items():
        target.attrs[name] = value
    for name, item in source.items():
        if isinstance(item, h5py.Group) and _INT8 not in item.attrs:
            _copy(item, target.create_group(name), write)
        else:
            write(target, name, item)


def _to_float32(group: h5py.Group, name: str, weight: h5py.Dataset) -> None:
    group.create_dataset(name, data=weight[()])


def _to_float16(group: h5py.Group, name: str, weight: h5py.Dataset) -> None:
    values = weight[()]
    if _is_float_matrix(values):
        values = as_float16(values, weight.name, "Save with weights='float32'.")
    group.create_dataset(name, data=values)


def _to_int8(group: h5py.Group, name: str, weight: h5py.Dataset) -> None:
    values = weight[()]
    if not _is_float_matrix(values):
        group.create_dataset(name, data=values)
        return
    stored = group.create_group(name)
    stored.attrs[_INT8] = True
    for part, array in zip(("values", "scales"), as_int8(values, weight.name), strict=True):
        stored.create_dataset(part, data=array)


def _from_int8(group: h5py.Group, name: str, weight: h5py.Dataset | h5py.Group) -> None:
    if isinstance(weight, h5py.Group):
        group.create_dataset(name, data=weight["values"][()].astype("float32") * weight["scales"])
    else:
        group.create_dataset(name, data=weight[()])


def _is_float_matrix(values: np.ndarray) -> bool:
    return is_matrix(values.shape) and np.issubdtype(values.dtype, np.floating)


FORMATS: dict[str, _Write] = {"float32": _to_float32, "float16": _to_float16, _INT8: _to_int8}

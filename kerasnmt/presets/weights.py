"""File of a preset's weights, with matrices in a small number format.

It has the layout of `keras.Model.save_weights`. In int8, each matrix is a group of `values` and
`scales`, so that Keras does not load the integers as weights.
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
        model: Model with the weights.
        path: Path of the file. It ends with ".weights.h5".
        kind: Number format, one of `FORMATS`.

    Raises:
        ValueError: If a weight is not finite, or is too large for float16.
    """
    with tempfile.TemporaryDirectory() as folder:
        keras_file = Path(folder, path.name)
        model.save_weights(keras_file)
        with h5py.File(keras_file) as file, h5py.File(path, "w") as stored:
            _copy(file, stored, FORMATS[kind])


def read_weights(model: keras.Model, path: Path, kind: str) -> None:
    """Load the weights of a file that `write_weights` wrote into a model.

    Raises:
        ValueError: If the file contains anything except weights.
    """
    if kind != _INT8:
        model.load_weights(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        keras_file = Path(folder, path.name)
        with h5py.File(path) as stored, h5py.File(keras_file, "w") as file:
            _copy(stored, file, _from_int8)
        model.load_weights(keras_file)


def _copy(source: h5py.Group, target: h5py.Group, write: _Write) -> None:
    """Copy a group of weights, where `write` writes each weight into its new group.

    The group is checked here, because Keras does not read and check a file in int8.
    """
    for name, value in source.attrs.items():
        target.attrs[name] = value
    for name in source:
        item = _stored(source, name)
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
    if isinstance(weight, h5py.Dataset):
        group.create_dataset(name, data=weight[()])
        return
    values, scales = (_stored(weight, part) for part in ("values", "scales"))
    fits = len(values.shape) == len(scales.shape) and all(
        size in (1, of_values) for size, of_values in zip(scales.shape, values.shape, strict=True)
    )
    if not fits or values.dtype != "int8" or scales.dtype != "float32":
        raise ValueError(
            "Expected int8 values, and float32 scales with a matching shape. Received: "
            f"{weight.name} with {values.dtype} {values.shape} and {scales.dtype} {scales.shape}."
        )
    group.create_dataset(name, data=values[()].astype("float32") * scales[()])


def _stored(group: h5py.Group, name: str) -> h5py.Group | h5py.Dataset:
    """Return a member of a group that is stored in the same file, uncompressed.

    Raises:
        ValueError: If the member is a link, or its values are compressed, incomplete or in another
            file.
    """
    item = group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None
    if isinstance(item, h5py.Dataset):
        complete = item.id.get_storage_size() >= item.size * item.dtype.itemsize
        if item.external or item.is_virtual or not complete:
            item = None
    if not isinstance(item, h5py.Group | h5py.Dataset):
        raise ValueError(
            "Expected weights that are stored in the same file, uncompressed. Received: "
            f"{group.name}/{name}."
        )
    return item


def _is_float_matrix(values: np.ndarray) -> bool:
    return is_matrix(values.shape) and np.issubdtype(values.dtype, np.floating)


FORMATS: dict[str, _Write] = {"float32": _to_float32, "float16": _to_float16, _INT8: _to_int8}

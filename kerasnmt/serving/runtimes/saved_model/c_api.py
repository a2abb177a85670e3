"""Functions of the TensorFlow C API that serve a SavedModel, called with ctypes.

The libraries come from the installed packages `tensorflow` and `tensorflow-text`, but the packages
are not imported. So this is the C++ code that TF Serving runs, without the Python code of
TensorFlow.

Source: `tensorflow/c/c_api.h`, `tf_tensor.h`, `tf_tstring.h`.
"""

import ctypes
import functools
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.serving.protocol.meta_graph import DTYPES, MetaGraph
from kerasnmt.serving.protocol.wire_format import repeated, text

_STRING_SIZE = 24  # sizeof(TF_TString)
_DTYPE_NUMBERS = {name: number for number, name in DTYPES.items()}
_LIBRARIES = {
    "linux": ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2"),
    "darwin": ("libtensorflow_framework.2.dylib", "libtensorflow_cc.2.dylib"),
}


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("deallocator", ctypes.c_void_p),
    )


class _Output(ctypes.Structure):
    _fields_ = (("operation", ctypes.c_void_p), ("index", ctypes.c_int))


_pointer, _size, _int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_text, _buffer = ctypes.c_char_p, ctypes.POINTER(_Buffer)
_outputs, _pointers = ctypes.POINTER(_Output), ctypes.POINTER(ctypes.c_void_p)
_sizes = ctypes.POINTER(ctypes.c_int64)

# Types of the result and of the arguments of each function.
_PROTOTYPES = {
    "TF_NewStatus": (_pointer,),
    "TF_DeleteStatus": (None, _pointer),
    "TF_GetCode": (_int, _pointer),
    "TF_Message": (_text, _pointer),
    "TF_NewBuffer": (_buffer,),
    "TF_DeleteBuffer": (None, _buffer),
    "TF_LoadLibrary": (_pointer, _text, _pointer),
    "TF_DeleteLibraryHandle": (None, _pointer),
    "TF_GetAllOpList": (_buffer,),
    "TF_GetRegisteredKernelsForOp": (_buffer, _text, _pointer),
    "TF_NewGraph": (_pointer,),
    "TF_DeleteGraph": (None, _pointer),
    "TF_GraphOperationByName": (_pointer, _pointer, _text),
    "TF_NewSessionOptions": (_pointer,),
    "TF_DeleteSessionOptions": (None, _pointer),
    "TF_LoadSessionFromSavedModel": (
        *(_pointer, _pointer, _pointer, _text, ctypes.POINTER(_text), _int),
        *(_pointer, _buffer, _pointer),
    ),
    "TF_CloseSession": (None, _pointer, _pointer),
    "TF_DeleteSession": (None, _pointer, _pointer),
    "TF_SessionRun": (
        *(None, _pointer, _pointer, _outputs, _pointers, _int, _outputs, _pointers, _int),
        *(_pointers, _int, _pointer, _pointer),
    ),
    "TF_AllocateTensor": (_pointer, _int, _sizes, _int, _size),
    "TF_DeleteTensor": (None, _pointer),
    "TF_TensorData": (_pointer, _pointer),
    "TF_TensorType": (_int, _pointer),
    "TF_NumDims": (_int, _pointer),
    "TF_Dim": (ctypes.c_int64, _pointer, _int),
    "TF_StringInit": (None, _pointer),
    "TF_StringCopy": (None, _pointer, _text, _size),
    "TF_StringGetDataPointer": (_pointer, _pointer),
    "TF_StringGetSize": (_size, _pointer),
}


@functools.cache
def library() -> ctypes.CDLL:
    """Load the libraries of TensorFlow and the ops of tf-text, once per process.

    Returns:
        The library, with the prototypes of the functions that this package calls.

    Raises:
        RuntimeError: If a package or library is missing, or an op library does not load.
    """
    names = _LIBRARIES.get(sys.platform)
    if names is None:
        raise RuntimeError(
            f"Expected one of the platforms {sorted(_LIBRARIES)}, whose tensorflow package "
            f"contains the C library. Received: sys.platform={sys.platform!r}"
        )
    for name in names:
        path = _package("tensorflow") / name
        if not path.is_file():
            raise RuntimeError(f"Expected the C library of TensorFlow at {path}. Reinstall it.")
        loaded = ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
    for name, (result, *arguments) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    for path in sorted(_libraries_of_text()):
        loaded.TF_DeleteLibraryHandle(_checked(loaded, "TF_LoadLibrary", os.fsencode(path)))
    return loaded


def call(name: str, *arguments: Any) -> Any:
    """Call a function whose last argument is a status, and raise an error for a bad status.

    Args:
        name: Name of the function.
        *arguments: Arguments of the function, without the status.

    Returns:
        The result of the function.

    Raises:
        RuntimeError: If the status is not OK. The error contains the message of TensorFlow.
    """
    return _checked(library(), name, *arguments)


def op_support(directory: str | Path) -> dict[str, str]:
    """Look up all ops of a SavedModel in the libraries, without loading the model.

    Args:
        directory: Path of the folder with `saved_model.pb`.

    Returns:
        A dict with the reason why a CPU server cannot run each op of the graph and of its
        functions, or an empty string if it can.

    Raises:
        ValueError: If the folder contains no SavedModel.
        RuntimeError: If the libraries cannot be found.
    """
    known = known_ops()
    return {op: _unsupported(op, known) for op in MetaGraph.from_saved_model(directory).ops}


def known_ops() -> set[str]:
    """Return the names of the ops that the loaded libraries define."""
    return {text(op, 1) for op in repeated(take_buffer(library().TF_GetAllOpList()), 1)}


def kernel_devices(op: str) -> set[str]:
    """Return the device types for which the loaded libraries have a kernel of this op."""
    kernels = repeated(take_buffer(call("TF_GetRegisteredKernelsForOp", op.encode())), 1)
    return {text(kernel, 2) for kernel in kernels}


def take_buffer(buffer: Any) -> bytes:
    """Return the bytes of a `TF_Buffer`, and free it."""
    held = ctypes.string_at(buffer.contents.data, buffer.contents.length)
    library().TF_DeleteBuffer(buffer)
    return held


def find_outputs(graph: int, tensors: list[str]) -> ctypes.Array:
    """Find tensors of a graph by name.

    Args:
        graph: Address of the `TF_Graph`.
        tensors: Names in the form of a signature, `operation:index`.

    Returns:
        An array of `TF_Output`, in the order of the names.

    Raises:
        RuntimeError: If the graph has no such operation.
    """
    outputs = (_Output * len(tensors))()
    for output, tensor in zip(outputs, tensors, strict=True):
        name, _, index = tensor.partition(":")
        output.operation = library().TF_GraphOperationByName(graph, name.encode())
        output.index = int(index or 0)
        if not output.operation:
            raise RuntimeError(f"the graph has no operation for the tensor {tensor!r}")
    return outputs


def new_tensor(value: Any, dtype: str) -> int:
    """Copy a value into a new `TF_Tensor`, which `TF_DeleteTensor` frees with its strings.

    Args:
        value: A NumPy array or nested lists. Strings are `bytes`, or `str`, which becomes UTF-8.
        dtype: Dtype of the tensor, one of the names in `DTYPES`.

    Returns:
        The address of the `TF_Tensor`.

    Raises:
        ValueError: If the dtype is not in `DTYPES`.
    """
    if dtype not in _DTYPE_NUMBERS:
        raise ValueError(f"Expected a dtype of {list(_DTYPE_NUMBERS)}. Received: {dtype=}")
    tf = library()
    array = np.asarray(value, object if dtype == "string" else dtype, order="C")
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    number = _DTYPE_NUMBERS[dtype]
    if dtype == "string":
        items = [item.encode() if isinstance(item, str) else item for item in array.flat]
        tensor = tf.TF_AllocateTensor(number, shape, array.ndim, _STRING_SIZE * len(items))
        for string, item in zip(_strings(tensor, len(items)), items, strict=True):
            tf.TF_StringInit(string)
            tf.TF_StringCopy(string, item, len(item))
    else:
        tensor = tf.TF_AllocateTensor(number, shape, array.ndim, array.nbytes)
        ctypes.memmove(tf.TF_TensorData(tensor), array.ctypes.data, array.nbytes)
    return tensor


def read_tensor(tensor: int) -> np.ndarray:
    """Copy a `TF_Tensor` into a NumPy array.

    Args:
        tensor: Address of the `TF_Tensor`.

    Returns:
        An array of the same dtype. Strings are `bytes` in an array of dtype `object`.

    Raises:
        RuntimeError: If the dtype is not in `DTYPES`.
    """
    tf = library()
    shape = [tf.TF_Dim(tensor, axis) for axis in range(tf.TF_NumDims(tensor))]
    number = tf.TF_TensorType(tensor)
    if number not in DTYPES:
        raise RuntimeError(
            f"Expected one of the dtypes {list(DTYPES.values())}. Received: {number=}"
        )
    if DTYPES[number] == "string":
        array = np.empty(shape, object)
        for index, string in enumerate(_strings(tensor, array.size)):
            data, size = tf.TF_StringGetDataPointer(string), tf.TF_StringGetSize(string)
            array.flat[index] = ctypes.string_at(data, size)
        return array
    array = np.empty(shape, DTYPES[number])
    ctypes.memmove(array.ctypes.data, tf.TF_TensorData(tensor), array.nbytes)
    return array


def _unsupported(op: str, known: set[str]) -> str:
    """Return the reason why a CPU server cannot run an op, or an empty string."""
    if op not in known:
        return "no op definition"
    return "" if {"CPU", "DEFAULT"} & kernel_devices(op) else "no CPU kernel"


def _checked(loaded: ctypes.CDLL, name: str, *arguments: Any) -> Any:
    """Call a function of the given library; see `call`."""
    status = loaded.TF_NewStatus()
    try:
        result = getattr(loaded, name)(*arguments, status)
        if loaded.TF_GetCode(status):
            raise RuntimeError(loaded.TF_Message(status).decode(errors="replace"))
        return result
    finally:
        loaded.TF_DeleteStatus(status)


def _package(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(
            f"Expected the package {name}. It is not installed. Install it: "
            "pip install 'kerasnmt[text]'"
        )
    return Path(spec.submodule_search_locations[0])


def _libraries_of_text() -> list[Path]:
    """Return the op libraries of TensorFlow Text, which some machines do not have."""
    if importlib.util.find_spec("tensorflow_text") is None:
        return []
    return [*_package("tensorflow_text").rglob("_*.so")]


def _strings(tensor: int, count: int) -> list[int]:
    """Return the addresses of the strings of a tensor."""
    start = library().TF_TensorData(tensor)
    return [start + _STRING_SIZE * index for index in range(count)]

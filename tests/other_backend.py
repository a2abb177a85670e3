"""Functions that run in a process with another backend of Keras, and again in this one."""

import contextlib
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import numpy as np

TENSORFLOW = ("tensorflow", "tensorflow_text", "tf_keras")


@contextlib.contextmanager
def other_backend(name, blocked=TENSORFLOW):
    """Start a process, and yield a function that runs others there.

    Args:
        name: Name of the backend.
        blocked: Packages that the process cannot import.

    Yields:
        A function of a function and its arguments. It returns the result, with arrays of NumPy in
        place of tensors.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, initializer=_block, initargs=(blocked,)) as pool:
        with mock.patch.dict(os.environ, KERAS_BACKEND=name, JAX_PLATFORMS="cpu"):
            pool.submit(_run, dict).result()
        yield lambda function, *arguments: pool.submit(_run, function, *arguments).result()


def _block(packages):
    sys.modules.update(dict.fromkeys(packages))


def _run(function, *arguments):
    from keras import ops, tree

    def as_numpy(value):
        return ops.convert_to_numpy(value) if ops.is_tensor(value) else value

    return tree.map_structure(as_numpy, function(*arguments))


def assert_equal(function, *arguments, run, **tolerances):
    """Check that a function returns the same dict of arrays in another process.

    Args:
        function: Function that both processes run. They import it by its name.
        *arguments: Its arguments.
        run: What `other_backend` yields.
        **tolerances: Keywords of `assert_allclose`, by the name of an array. The others are equal
            to 1e-5.
    """
    found, expected = run(function, *arguments), function(*arguments)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        tolerance = tolerances.get(name, {"atol": 1e-5})
        np.testing.assert_allclose(found[name], values, err_msg=name, **tolerance)

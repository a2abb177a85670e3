import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt.layers.on_rows import on_rows

KERNEL = np.arange(15, dtype="float32").reshape(3, 5)


def times_kernel(rows):
    assert len(rows.shape) == 2
    return ops.matmul(rows, KERNEL)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3), (2, 1, 4, 3)])
def test_any_rank(shape):
    tensor = np.random.default_rng(2).normal(size=shape).astype("float32")
    np.testing.assert_allclose(on_rows(times_kernel, tensor), tensor @ KERNEL, rtol=1e-5)
    vector = on_rows(lambda rows: times_kernel(rows)[:, 0], tensor)
    np.testing.assert_allclose(vector, (tensor @ KERNEL)[..., 0], rtol=1e-5)


@pytest.mark.graph
@pytest.mark.parametrize("shape", [(None, 4, 3), (None, None, 3), (None, 3)])
def test_graphs_of_open_sizes(shape):
    function = tf.function(
        lambda tensor: on_rows(times_kernel, tensor),
        input_signature=[tf.TensorSpec(shape)],
        autograph=False,
    )
    given = np.random.default_rng(3).normal(size=(2, 4, 3)[-len(shape) :]).astype("float32")
    for tensor in (given, given[:0]):
        np.testing.assert_allclose(function(tensor), tensor @ KERNEL, rtol=1e-5)


def test_no_features():
    """The context of a decoder without attention has no features."""
    dense = keras.layers.Dense(5)
    dense.build((None, 0))
    assert on_rows(dense, np.zeros((2, 4, 0), "float32")).shape == (2, 4, 5)


def test_symbolic():
    dense = keras.layers.Dense(5)
    dense.build((None, 3))
    assert on_rows(dense, keras.KerasTensor((None, None, 3))).shape == (None, None, 5)

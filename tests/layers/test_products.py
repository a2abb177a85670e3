import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt.layers.on_rows import on_rows
from kerasnmt.layers.products import products

OPEN_BATCH = [tf.TensorSpec((None, 4, None)), tf.TensorSpec((None, None, 5))]
ALL_OPEN = [tf.TensorSpec((None, None, None)), tf.TensorSpec((None, None, 5))]


def with_gradients(left, right):
    with tf.GradientTape() as tape:
        tape.watch((left, right))
        product = products(left, right)
        loss = tf.reduce_sum(product**3)
    return product, *tape.gradient(loss, (left, right))


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("signature", [OPEN_BATCH, ALL_OPEN])
def test_one_graph_for_any_batch(signature, jit_compile):
    """The product and its gradient, 3 (AB)^2 B^T and A^T 3 (AB)^2, by NumPy."""
    function = tf.function(
        with_gradients, input_signature=signature, autograph=False, jit_compile=jit_compile
    )
    rng = np.random.default_rng(1)
    for batch in (1, 3, 1, 2):
        left, right = rng.normal(size=(batch, 4, 3)), rng.normal(size=(batch, 3, 5))
        received = function(left.astype("float32"), right.astype("float32"))
        product = left @ right
        upstream = 3 * product**2
        gradients = upstream @ right.swapaxes(1, 2), left.swapaxes(1, 2) @ upstream
        for value, expected in zip(received, (product, *gradients), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)


def test_an_empty_batch():
    function = tf.function(products, input_signature=OPEN_BATCH, autograph=False)
    assert function(np.zeros((0, 4, 3), "float32"), np.zeros((0, 3, 5), "float32")).shape == (
        (0, 4, 5)
    )


def test_a_batch_of_known_size_is_one_plain_product():
    def ops_of(*shapes):
        function = tf.function(products, autograph=False)
        graph = function.get_concrete_function(*map(tf.TensorSpec, shapes)).graph
        return {op.type for op in graph.get_operations()}

    assert "BatchMatMulV2" in ops_of((1, 4, 3), (1, 3, 5))
    assert "StatelessIf" not in ops_of((1, 4, 3), (1, 3, 5))
    assert "StatelessIf" in ops_of((None, 4, 3), (None, 3, 5))


def test_a_symbolic_product():
    product = products(keras.KerasTensor((None, 4, 3)), keras.KerasTensor((None, 3, 5)))
    assert product.shape == (None, 4, 5)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3), (2, 1, 4, 3)])
def test_on_rows_of_any_rank(shape):
    rng = np.random.default_rng(2)
    tensor, kernel = rng.normal(size=shape), rng.normal(size=(3, 5))
    matrix = on_rows(lambda rows: ops.matmul(rows, kernel), tensor)
    np.testing.assert_allclose(matrix, tensor @ kernel)
    vector = on_rows(lambda rows: ops.matmul(rows, kernel)[:, 0], tensor)
    np.testing.assert_allclose(vector, (tensor @ kernel)[..., 0])


def test_on_rows_in_graphs_of_open_sizes():
    kernel = np.arange(15, dtype="float32").reshape(3, 5)
    for shape in [(None, 4, 3), (None, None, 3), (None, 3)]:
        function = tf.function(
            lambda tensor: on_rows(lambda rows: tf.matmul(rows, kernel), tensor),
            input_signature=[tf.TensorSpec(shape)],
            autograph=False,
        )
        given = np.random.default_rng(3).normal(size=(2, 4, 3)[-len(shape) :])
        for tensor in (given, given[:0]):
            received = function(tensor.astype("float32"))
            np.testing.assert_allclose(received, tensor @ kernel, rtol=1e-5)

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.speed import products

OPEN_BATCH = [tf.TensorSpec((None, 4, None)), tf.TensorSpec((None, None, 5))]


def with_gradients(left, right):
    with tf.GradientTape() as tape:
        tape.watch((left, right))
        product = products(left, right)
        loss = tf.reduce_sum(product**3)
    return product, *tape.gradient(loss, (left, right))


@pytest.mark.graph
@pytest.mark.parametrize("jit_compile", [False, True])
def test_one_graph_for_any_batch(jit_compile):
    """The product and its gradient, 3 (AB)^2 B^T and A^T 3 (AB)^2, compared with NumPy."""
    function = tf.function(
        with_gradients, input_signature=OPEN_BATCH, autograph=False, jit_compile=jit_compile
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


@pytest.mark.graph
@pytest.mark.parametrize("jit_compile", [False, True])
def test_an_empty_batch(jit_compile):
    function = tf.function(
        products, input_signature=OPEN_BATCH, autograph=False, jit_compile=jit_compile
    )
    shapes = (0, 4, 3), (0, 3, 5)
    assert function(*(np.zeros(shape, "float32") for shape in shapes)).shape == (0, 4, 5)


@pytest.mark.graph
@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((None, 4, None), (None, None, 5), {"StatelessIf"}),
        ((None, 4, None), (None, None, None), {"StatelessIf"}),
        ((1, 4, 3), (1, 3, 5), {"BatchMatMulV2"}),  # of known size
        ((None, None, 3), (None, 3, 5), {"BatchMatMulV2"}),  # of targets, no search
    ],
)
def test_where_the_batch_is_looked_at(left, right, expected):
    function = tf.function(products, autograph=False)
    graph = function.get_concrete_function(tf.TensorSpec(left), tf.TensorSpec(right)).graph
    kinds = {op.type for op in graph.get_operations()}
    assert kinds & {"StatelessIf", "BatchMatMulV2"} == expected


def test_a_symbolic_product():
    product = products(keras.KerasTensor((None, 4, 3)), keras.KerasTensor((None, 3, 5)))
    assert product.shape == (None, 4, 5)

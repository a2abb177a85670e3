"""The dense layer on rows, against Keras' own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers.row_dense import RowDense


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 0, 4), (2, 3, 5, 4)])
def test_the_numbers_are_those_of_dense(shape):
    inputs = np.random.default_rng(0).normal(size=shape).astype("float32")
    layer = RowDense(6, activation="tanh", bias_initializer="normal")
    dense = keras.layers.Dense(6, activation="tanh")
    layer.build(shape)
    dense.build(shape)
    dense.set_weights(layer.get_weights())
    np.testing.assert_allclose(layer(inputs), dense(inputs), rtol=1e-6, atol=1e-6)
    assert layer(inputs).shape == (*shape[:-1], 6)


def test_it_takes_few_ops():
    counts = []
    for layer in (RowDense(6), keras.layers.Dense(6)):
        layer.build((None, None, 4))
        call = tf.function(lambda inputs, layer=layer: layer(inputs), autograph=False)
        graph = call.get_concrete_function(tf.TensorSpec([None, None, 4])).graph
        counts.append(sum(op.type != "Const" for op in graph.get_operations()))
    assert counts[0] < counts[1] - 5

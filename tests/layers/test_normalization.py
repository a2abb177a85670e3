import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import LayerNormalization

SHAPES = pytest.mark.parametrize("shape", [(5, 6), (2, 5, 6), (2, 3, 4, 6)])


def layers(shape, dtype=None):
    """Return this layer and the layer of Keras with the same weights, and inputs."""
    rng = np.random.default_rng(0)
    both = (
        LayerNormalization(dtype=dtype),
        keras.layers.LayerNormalization(epsilon=1e-6, dtype=dtype),
    )
    weights = [rng.normal(size=6) for _ in range(2)]
    for layer in both:
        layer.build(shape)
        layer.set_weights(weights)
    return *both, tf.constant(rng.normal(2.0, 3.0, size=shape), tf.float32)


@SHAPES
def test_equation(shape):
    layer, _, inputs = layers(shape)
    x, (gamma, beta) = np.array(inputs, "float64"), layer.get_weights()
    x = x - x.mean(-1, keepdims=True)
    expected = gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) + beta
    np.testing.assert_allclose(layer(inputs), expected, atol=1e-5)
    small = 1e-3 * inputs[..., :1] + tf.zeros(shape)  # all features alike: epsilon counts
    np.testing.assert_allclose(layer(small), np.broadcast_to(beta, shape), atol=1e-2)


@SHAPES
@pytest.mark.parametrize("training", [True, False])
def test_gradients_match_keras(shape, training):
    layer, other, inputs = layers(shape)
    found = []
    for one, options in ((layer, {"training": training}), (other, {})):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = tf.reduce_sum(tf.sin(one(inputs, **options)))
        found.append(tape.gradient(loss, [inputs, one.gamma.value, one.beta.value]))
    for received, expected in zip(*found, strict=True):
        np.testing.assert_allclose(received, expected, atol=1e-5)


def test_half_precision():
    layer, other, inputs = layers((2, 5, 6), dtype="mixed_bfloat16")
    received = layer(inputs)
    assert received.dtype == "bfloat16"
    np.testing.assert_allclose(
        *(tf.cast(one, "float32") for one in (received, other(inputs))), atol=0.05
    )

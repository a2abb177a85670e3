"""What normalizers and the entmax loss compute on any backend of Keras."""

import keras
import numpy as np
from keras import ops

from kerasnmt.layers import Entmax, Entmax15, Softmax, Sparsemax, entmax_loss

SCORES = np.array([[0.5, 0.1, -1.0, 9.0], [3.0, 2.9, 2.0, 1.9], [0.0, -1e9, 0.3, 0.2]], "float32")
MASK = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]], "bool")
UPSTREAM = np.array([[1.0, -2.0, 0.5, 4.0], [0.3, 1.0, -1.0, 2.0], [1.0, 2.0, 3.0, 4.0]], "float32")
NORMALIZERS = {
    "softmax": Softmax,
    "sparsemax": Sparsemax,
    "entmax15": Entmax15,
    "cool sparsemax": lambda: Sparsemax(temperature=0.5),
    "warm entmax": lambda: Entmax(1.5, temperature=2.0),
    "entmax 1.2": lambda: Entmax(1.2),
    "entmax 3": lambda: Entmax(3.0),
}


def gradient(function, values):
    """Return the gradient of a scalar function, on TensorFlow or JAX."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.grad(jax.jit(function))(values)
    import tensorflow as tf

    values = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(values)
        result = function(values)
    return tape.gradient(result, values)


def normalized():
    """Return the weights of each normalizer, and the gradients of their sum with `UPSTREAM`."""
    results = {}
    for name, make in NORMALIZERS.items():
        normalizer = make()
        results[name] = normalizer(SCORES, MASK)
        results[f"gradient of {name}"] = gradient(
            lambda scores, layer=normalizer: ops.sum(layer(scores, MASK) * UPSTREAM), SCORES
        )
    return results


def losses():
    """Return the results of the entmax loss, and its gradient with label smoothing."""
    logits, ids = SCORES[:2], np.array([1, 3], "int32")

    def smoothed(logits):
        _, mean, gain = entmax_loss(Entmax15(), logits, ids)
        return -ops.sum(0.9 * gain + 0.1 * mean)

    log, mean, gain = entmax_loss(Entmax15(), logits, ids)
    return {"log": log, "mean": mean, "gain": gain, "gradient": gradient(smoothed, logits)}

"""Equations that several tests compute in NumPy, and layers with random weights."""

import contextlib

import keras
import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(scores, mask=True):
    """Compute the softmax over the last axis, where the mask is true. Elsewhere, it is 0."""
    scores = np.asarray(scores, "float64")
    powers = np.where(mask, np.exp(scores - scores.max(-1, keepdims=True)), 0)
    return powers / powers.sum(-1, keepdims=True)


def log_softmax(logits):
    logits = np.asarray(logits, "float64")
    logits = logits - logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def gru(x, states, kernel, bias, dropped=1.0):
    """Compute a step of a GRU. Its kernels read the state times `dropped`."""
    (h,) = states
    x, u = np.split(x, 3), np.split((dropped * h) @ kernel + bias, 3)
    z, r = sigmoid(x[0] + u[0]), sigmoid(x[1] + u[1])
    h = z * h + (1 - z) * np.tanh(x[2] + r * u[2])
    return h, [h]


def lstm(x, states, kernel, dropped=1.0):
    """Compute a step of an LSTM. Its kernels read the state times `dropped`."""
    h, c = states
    i, f, g, o = np.split(x + (dropped * h) @ kernel, 4)
    c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return h, [h, c]


def additive(score, query, memory, covered=0.0):
    """Compute v^T tanh(W h_i + b + U s + w C_i) of one query and all annotations h_i."""
    w_memory, b_memory = score.memory_projection.get_weights()
    (w_query,) = score.query_projection.get_weights()
    hidden = np.tanh(memory @ w_memory + b_memory + query @ w_query + covered)
    return hidden @ np.array(score.energy)[:, 0]


def fill(layer, seed=0, scale=1.0):
    """Give a built layer or a model normal random weights, and return it."""
    rng = np.random.default_rng(seed)
    layer.set_weights([scale * rng.normal(size=weight.shape) for weight in layer.get_weights()])
    return layer


@contextlib.contextmanager
def dtype_policy(name):
    """Make layers of this dtype policy."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)

"""Three ways to run a function: eagerly, in a graph, and compiled by XLA."""

import tensorflow as tf


def eager(function):
    return function


def graph(function):
    return tf.function(function, autograph=False)


def xla(function):
    return tf.function(function, autograph=False, jit_compile=True)

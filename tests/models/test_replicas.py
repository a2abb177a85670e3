from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.models.replicas import Replicas


def test_the_mean_of_one_replica_is_its_number():
    replicas = Replicas(1)
    np.testing.assert_array_equal(replicas.mean(3.5), 3.5)
    np.testing.assert_array_equal(replicas.mean(keras.ops.convert_to_tensor(-2.0)), -2.0)


def test_no_gradient_goes_through():
    replicas, weight = Replicas(1), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = weight * replicas.mean(weight * weight)
    np.testing.assert_array_equal(tape.gradient(loss, weight), 4.0)


@pytest.mark.parametrize("count", [1, 2])
def test_words_are_counted_by_their_weights(count):
    replicas = Replicas(count)
    np.testing.assert_array_equal(replicas.mean_count(np.array([[1.0, 0.5], [0.0, 2.0]])), 3.5)
    np.testing.assert_array_equal(replicas.mean_count(np.array([[True, False, True]])), 2.0)
    # As if the other replica had the same number of words.
    np.testing.assert_array_equal(replicas.share(np.array([[True, False, True]])), 1.0)


def test_each_replica_takes_its_own_losses():
    first, second, third = (SimpleNamespace(device=device) for device in ("0", "1", "1"))
    assert Replicas(2).own_losses([first, second], third) == [second]
    assert Replicas(1).own_losses([first, second], third) == [first, second]

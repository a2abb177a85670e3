import keras
import numpy as np
import tensorflow as tf

from kerasnmt.models.replica_mean import ReplicaMean


def test_the_mean_of_one_replica_is_its_number():
    mean = ReplicaMean()
    np.testing.assert_array_equal(mean(3.5), 3.5)
    np.testing.assert_array_equal(mean(keras.ops.convert_to_tensor(-2.0)), -2.0)


def test_no_gradient_goes_through():
    mean, weight = ReplicaMean(), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = weight * mean(weight * weight)
    np.testing.assert_array_equal(tape.gradient(loss, weight), 4.0)

"""A number over the replicas of a distributed training."""

from typing import Any

import keras
from keras import ops


class ReplicaMean:
    """The mean of a number over the replicas of a `tf.distribute` strategy, known to each of them.

    Keras adds up the gradients of the replicas, each of which sees a share of the batch; so a loss
    has to be divided by what the shares hold together. What is assigned to a variable that
    aggregates is reduced over the replicas, on any backend of Keras without a call of TensorFlow's.

    Made within the strategy's scope; used in the step that the strategy runs.
    """

    def __init__(self) -> None:
        self.variable = keras.Variable(
            0.0, trainable=False, dtype="float32", aggregation="mean", name="replica_mean"
        )

    def __call__(self, number: Any) -> Any:
        """Return the mean of the replicas' numbers, a float32 scalar without a gradient."""
        self.variable.assign(ops.stop_gradient(number))
        return ops.copy(self.variable)

"""Losses of distributed training, where each device has a part of the batch."""

from typing import Any

import keras
from keras import ops


class Replicas:
    """Means of losses over the replicas of a `tf.distribute` strategy, as on one device.

    Keras adds up the gradients of the replicas, which have parts of a batch with different numbers
    of words. So each replica divides its loss by the mean number of words of all replicas. An
    assignment to a variable with an aggregation computes this mean, on any Keras backend.

    Create the object in the scope of the strategy, and call its methods in the step that the
    strategy runs.

    Args:
        count: Number of replicas; 1 without a strategy.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.variable = keras.Variable(
            0.0, trainable=False, dtype="float32", aggregation="mean", name="replica_mean"
        )

    def mean(self, number: Any) -> Any:
        """Return the mean of a number over the replicas, a float32 scalar without a gradient."""
        self.variable.assign(ops.stop_gradient(number))
        return ops.copy(self.variable)

    def mean_count(self, counted: Any) -> Any:
        """Return the mean number of words of a replica, a float32 scalar.

        Args:
            counted: Booleans or weights of the words, of any shape.
        """
        count = ops.sum(ops.cast(counted, "float32"))
        return count if self.count == 1 else self.mean(count)

    def share(self, counted: Any) -> Any:
        """Return the factor that makes the mean of all replicas' means a mean over all words.

        Args:
            counted: Booleans or weights of the words of this replica, of any shape.

        Returns:
            The factor of this replica's mean, a float32 scalar. Its mean over the replicas is 1.
        """
        if self.count == 1:
            return 1.0
        count = ops.sum(ops.cast(counted, "float32"))
        return ops.divide_no_nan(count, self.mean_count(counted))

    def own_losses(self, losses: list[Any], loss: Any) -> list[Any]:
        """Return the added losses that belong to this replica.

        Keras keeps one list for all replicas. Each replica clears the list when it begins. Then it
        calls `share`, where the replicas wait for each other, and adds its losses.

        Args:
            losses: Keras's list of the losses of all replicas.
            loss: A loss of this replica.
        """
        if self.count == 1:
            return losses
        return [one for one in losses if one.device == loss.device]

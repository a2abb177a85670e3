"""The losses of distributed training, where each device has a share of the batch."""

from typing import Any

import keras
from keras import ops


class Replicas:
    """Average losses over the replicas of a `tf.distribute` strategy, as one device would.

    Keras adds up the gradients of the replicas. Their shares of a batch hold different numbers of
    words, so each replica divides its loss by the mean number of words of all of them. Assigning a
    number to a variable that aggregates computes such a mean, on any backend of Keras.

    Make it within the strategy's scope, and call it in the step that the strategy runs.

    Args:
        count: Number of replicas; 1 without a strategy.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.variable = keras.Variable(
            0.0, trainable=False, dtype="float32", aggregation="mean", name="replica_mean"
        )

    def mean(self, number: Any) -> Any:
        """Return the mean of the replicas' numbers, a float32 scalar without a gradient."""
        self.variable.assign(ops.stop_gradient(number))
        return ops.copy(self.variable)

    def mean_count(self, counted: Any) -> Any:
        """Return how many words a replica has on average, a float32 scalar.

        Args:
            counted: Which words count, booleans or weights of any shape.
        """
        count = ops.sum(ops.cast(counted, "float32"))
        return count if self.count == 1 else self.mean(count)

    def share(self, counted: Any) -> Any:
        """Return the weight of a mean over this replica's words among the means of all replicas.

        Args:
            counted: The words that the mean is over, booleans or weights of any shape.

        Returns:
            A float32 scalar, 1 on average over the replicas.
        """
        if self.count == 1:
            return 1.0
        count = ops.sum(ops.cast(counted, "float32"))
        return ops.divide_no_nan(count, self.mean_count(counted))

    def own_losses(self, losses: list[Any], loss: Any) -> list[Any]:
        """Return the added losses that belong to this replica.

        Keras keeps one list for all replicas. The last replica empties it when it begins, and each
        adds to it after `share`, where the replicas wait for each other.

        Args:
            losses: The list of Keras.
            loss: A loss of this replica.
        """
        if self.count == 1:
            return losses
        return [one for one in losses if one.device == loss.device]

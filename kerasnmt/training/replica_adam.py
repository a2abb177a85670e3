"""Adam for several devices."""

from typing import Any

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable("kerasnmt")
class ReplicaAdam(keras.optimizers.Adam):
    """Adam that clips the gradient of the whole batch by `global_clipnorm` on several devices.

    Keras clips the gradient of each replica's share of the batch, and then adds these up. This
    class adds them up, clips the sum, and gives Keras equal shares of it, which Keras' own clipping
    leaves as they are. The gradients of embeddings are whole, see `GradientNorm`. On one device it
    equals `keras.optimizers.Adam`, whose arguments it takes.
    """

    def apply(self, grads: list[Any], trainable_variables: list[Any] | None = None) -> None:
        """Update the weights.

        Args:
            grads: Gradients; None for a weight that the loss does not depend on.
            trainable_variables: The weights, in the same order; None for those that the optimizer
                was built with.
        """
        grads = [None if grad is None else tf.convert_to_tensor(grad) for grad in grads]
        replica = tf.distribute.get_replica_context()
        if self.global_clipnorm and replica.num_replicas_in_sync > 1:
            present = [grad for grad in grads if grad is not None]
            whole = replica.all_reduce(tf.distribute.ReduceOp.SUM, present)
            clipped, _ = tf.clip_by_global_norm(whole, self.global_clipnorm)
            share = 1.0 / replica.num_replicas_in_sync
            shares = (tf.math.scalar_mul(share, grad) for grad in clipped)
            grads = [None if grad is None else next(shares) for grad in grads]
        super().apply(grads, trainable_variables)

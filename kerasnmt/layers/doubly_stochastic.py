"""Doubly stochastic attention."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class DoublyStochastic(keras.layers.Layer):
    """A loss by which all that is there gets looked at.

        lambda sum_i (1 - sum_t alpha_{t,i})^2

    summed over the targets and divided by the number of their words, as the loss of the words is.
    Where a target has fewer words than the memory has places, the sums cannot all be 1, and a large
    lambda blurs the weights. It is for memories without padding, such as the regions of images: a
    padded place counts 1, from which nothing is learned.

    Source: Xu et al. (2015), "Show, attend and tell", equation 14.

    Args:
        loss_weight: lambda, at least 0.
    """

    def __init__(self, loss_weight: float = 1.0, **kwargs) -> None:
        super().__init__(**kwargs)
        if loss_weight < 0:
            raise ValueError(f"Expected loss_weight >= 0. Received: loss_weight={loss_weight}")
        self.loss_weight = loss_weight

    def loss(self, weights: Any, target_mask: Any) -> Any:
        """Return the loss of whole targets, a float32 scalar; see `Coverage.loss`."""
        mask = ops.cast(target_mask, "float32")
        looked = ops.sum(weights * mask[..., None], axis=1)
        total = ops.sum(ops.max(mask, axis=1) * ops.sum(ops.square(1.0 - looked), axis=-1))
        return self.loss_weight * total / ops.maximum(ops.sum(mask), 1.0)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {**super().get_config(), "loss_weight": self.loss_weight}

"""Dropout with cheap random numbers."""

from typing import Any

import keras

from kerasnmt.speed.byte_dropout import byte_dropout


@keras.saving.register_keras_serializable("kerasnmt")
class ByteDropout(keras.layers.Dropout):
    """Dropout that draws one random byte for each feature, not a float of four bytes.

    A rate above 0 is rounded to a multiple of 1/256, from 1/256 to 255/256. The features that
    remain are divided by 1 minus the rounded rate.

    Source: Dao et al. (2022), "FlashAttention", which draws bytes too.

    Args:
        rate: Dropout rate, in [0, 1).
        seed: Seed of the random numbers, an int, or None for a random seed.

    Raises:
        ValueError: If the rate is out of range.
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs) -> None:
        if not 0.0 <= rate < 1.0:
            raise ValueError(
                f"Expected 0 <= dropout < 1; a usual value is 0.2. Received: dropout={rate}"
            )
        super().__init__(rate, noise_shape=None, seed=seed, **kwargs)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Drop features of `inputs`, a tensor of any shape, in training."""
        if not (training and self.rate):
            return inputs
        return byte_dropout(inputs, self.rate, seed=self.seed_generator)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        config = super().get_config()
        del config["noise_shape"]
        return config

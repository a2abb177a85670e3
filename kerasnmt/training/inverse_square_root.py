"""The schedule that the Transformer was published with."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class InverseSquareRoot(keras.optimizers.schedules.LearningRateSchedule):
    """A learning rate that rises linearly, then falls with the square root of the steps.

        rate(n) = learning_rate * min((n + 1) / warmup_steps, sqrt(warmup_steps / (n + 1)))

    at the n-th step, counted from 0. Its length is not fixed beforehand, so a training can go on.

    Source: Vaswani et al. (2017), "Attention is all you need", equation 3, where the highest rate
    is (d_model * warmup_steps) ** -0.5.

    Args:
        learning_rate: the highest, at the end of the warm-up.
        warmup_steps: the number of steps until there.

    Raises:
        ValueError: `warmup_steps` is below 1.
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        if warmup_steps < 1:
            raise ValueError(
                "Expected at least one of warmup_steps for the inverse square root; 4000 is usual. "
                f"Received: warmup_steps={warmup_steps}"
            )
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps

    def __call__(self, step: Any) -> Any:
        """Return the rate of a step, float32."""
        share = (ops.cast(step, "float32") + 1.0) / self.warmup_steps
        return self.learning_rate * ops.minimum(share, ops.rsqrt(share))

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {"learning_rate": self.learning_rate, "warmup_steps": self.warmup_steps}

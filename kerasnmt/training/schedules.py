"""Learning rate schedules."""

from typing import Any

import keras
from keras import ops
from keras.optimizers.schedules import CosineDecay, LearningRateSchedule


@keras.saving.register_keras_serializable("kerasnmt")
class InverseSquareRoot(LearningRateSchedule):
    """Learning rate that rises linearly, and then falls with the square root of the steps.

        rate(n) = learning_rate * min((n + 1) / warmup_steps, sqrt(warmup_steps / (n + 1)))

    Steps n are counted from 0. The schedule does not depend on the total number of steps, so
    training can be extended.

    Source: Vaswani et al. (2017), "Attention is all you need", equation 3, where the maximum is
    (d_model * warmup_steps)^-0.5.

    Args:
        learning_rate: Maximum learning rate, at the end of the warm-up.
        warmup_steps: Number of steps of the warm-up.

    Raises:
        ValueError: If `warmup_steps` is below 1.
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        if warmup_steps < 1:
            raise ValueError(
                "Expected warmup_steps >= 1 for the inverse square root; a usual value is 4000. "
                f"Received: warmup_steps={warmup_steps}"
            )
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps

    def __call__(self, step: Any) -> Any:
        """Return the learning rate of a step, float32."""
        share = (ops.cast(step, "float32") + 1.0) / self.warmup_steps
        return self.learning_rate * ops.minimum(share, ops.rsqrt(share))

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {"learning_rate": self.learning_rate, "warmup_steps": self.warmup_steps}


def learning_rate_schedule(
    learning_rate: float, steps: int, *, schedule: str = "constant", warmup_steps: int = 0
) -> float | LearningRateSchedule:
    """Return the learning rate of an optimizer.

    Args:
        learning_rate: Maximum learning rate.
        steps: Total number of steps.
        schedule: `"constant"`; `"cosine"`, which would reach zero after the last step; or
            `"inverse_sqrt"`, which falls with the square root of the steps, after a warm-up.
        warmup_steps: Number of steps of the warm-up, in which the learning rate rises linearly from
            zero, or with `"inverse_sqrt"` from `learning_rate / warmup_steps`.

    Returns:
        A Keras schedule, or a number if the learning rate is constant.

    Raises:
        ValueError: If the warm-up is as long as training, the schedule needs a warm-up but has
            none, or the schedule is unknown.
    """
    if schedule not in ("constant", "cosine", "inverse_sqrt"):
        raise ValueError(
            f"Expected a schedule of constant, cosine or inverse_sqrt. Received: {schedule=}"
        )
    if warmup_steps >= steps:
        raise ValueError(
            f"Expected fewer warmup_steps than the {steps} steps of training. "
            f"Received: warmup_steps={warmup_steps}"
        )
    if schedule == "inverse_sqrt":
        return InverseSquareRoot(learning_rate, warmup_steps)
    if schedule == "constant" and not warmup_steps:
        return learning_rate
    return CosineDecay(
        initial_learning_rate=0.0 if warmup_steps else learning_rate,
        decay_steps=steps - warmup_steps,
        alpha=1.0 if schedule == "constant" else 0.0,  # factor of the rate at the last step
        warmup_target=learning_rate if warmup_steps else None,
        warmup_steps=warmup_steps,
    )

"""The learning rate over the steps of a training."""

from keras.optimizers.schedules import CosineDecay, LearningRateSchedule

from kerasnmt.training.inverse_square_root import InverseSquareRoot


def learning_rate_schedule(
    learning_rate: float, steps: int, *, schedule: str = "constant", warmup_steps: int = 0
) -> float | LearningRateSchedule:
    """Makes what an optimizer takes as its learning rate.

    Args:
        learning_rate: the highest.
        steps: the number of steps of the whole training.
        schedule: `"constant"`; `"cosine"` to go down to zero at the last step; or `"inverse_sqrt"`
            to go down with the square root of the number of steps, after a warm-up.
        warmup_steps: first steps, over which the rate rises linearly from zero.

    Returns:
        a Keras schedule, or a number where nothing changes.

    Raises:
        ValueError: the warm-up is as long as the training, or missing where the schedule needs one,
            or there is no such schedule.
    """
    if schedule not in ("constant", "cosine", "inverse_sqrt"):
        raise ValueError(
            f"Expected a schedule of constant, cosine or inverse_sqrt. Received: {schedule=}"
        )
    if warmup_steps >= steps:
        raise ValueError(
            f"Expected fewer warmup_steps than the {steps} steps of the training. "
            f"Received: warmup_steps={warmup_steps}"
        )
    if schedule == "inverse_sqrt":
        return InverseSquareRoot(learning_rate, warmup_steps)
    if schedule == "constant" and not warmup_steps:
        return learning_rate
    return CosineDecay(
        initial_learning_rate=0.0 if warmup_steps else learning_rate,
        decay_steps=steps - warmup_steps,
        alpha=1.0 if schedule == "constant" else 0.0,  # the share of the rate that is left at last
        warmup_target=learning_rate if warmup_steps else None,
        warmup_steps=warmup_steps,
    )

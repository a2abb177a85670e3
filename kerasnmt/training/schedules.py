"""The learning rate over the steps of a training."""

from keras.optimizers.schedules import CosineDecay, LearningRateSchedule


def learning_rate_schedule(
    learning_rate: float, steps: int, *, schedule: str = "constant", warmup_steps: int = 0
) -> float | LearningRateSchedule:
    """Makes what an optimizer takes as its learning rate.

    Args:
        learning_rate: the highest.
        steps: the number of steps of the whole training.
        schedule: `"constant"`, or `"cosine"` to go down to zero at the last step.
        warmup_steps: first steps, over which the rate rises linearly from zero.

    Returns:
        a Keras schedule, or a number where nothing changes.

    Raises:
        ValueError: the warm-up is as long as the training, or there is no such schedule.
    """
    if schedule not in ("constant", "cosine"):
        raise ValueError(f"Expected a schedule of constant or cosine. Received: {schedule=}")
    if warmup_steps >= steps:
        raise ValueError(
            f"Expected fewer warmup_steps than the {steps} steps of the training. "
            f"Received: warmup_steps={warmup_steps}"
        )
    if schedule == "constant" and not warmup_steps:
        return learning_rate
    return CosineDecay(
        initial_learning_rate=0.0 if warmup_steps else learning_rate,
        decay_steps=steps - warmup_steps,
        alpha=1.0 if schedule == "constant" else 0.0,  # the share of the rate that is left at last
        warmup_target=learning_rate if warmup_steps else None,
        warmup_steps=warmup_steps,
    )

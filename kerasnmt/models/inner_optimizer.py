"""Optimizer that updates the weights."""

import keras


def inner_optimizer(optimizer: keras.optimizers.Optimizer) -> keras.optimizers.Optimizer:
    """Return the optimizer inside a `LossScaleOptimizer`, or any other optimizer itself."""
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        return optimizer.inner_optimizer
    return optimizer

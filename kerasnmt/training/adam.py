"""Adam, which tells the size of its gradients."""

import keras

from kerasnmt.training.gradient_norm import GradientNorm


@keras.saving.register_keras_serializable("kerasnmt")
class Adam(GradientNorm, keras.optimizers.Adam):
    """`keras.optimizers.Adam` with `gradient_norm`, which `StepScalars` writes for TensorBoard.

    Args:
        *args: of `keras.optimizers.Adam`.
        **kwargs: likewise.
    """

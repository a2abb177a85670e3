"""Adam on whole gradients, whose size it tells."""

import keras

from kerasnmt.training.gradient_norm import GradientNorm


@keras.saving.register_keras_serializable("kerasnmt")
class Adam(GradientNorm, keras.optimizers.Adam):
    """`keras.optimizers.Adam` (Kingma and Ba 2015) on whole gradients, as `GradientNorm` says.

    `gradient_norm` is what `StepScalars` writes for TensorBoard.

    Args:
        *args: of `keras.optimizers.Adam`.
        **kwargs: likewise.
    """

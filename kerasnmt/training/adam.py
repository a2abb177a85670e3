"""Adam on whole gradients, whose size it tells, in one pass over the weights."""

from typing import Any

import keras

from kerasnmt.training.gradient_norm import GradientNorm


@keras.saving.register_keras_serializable("kerasnmt")
class Adam(GradientNorm, keras.optimizers.Adam):
    """`keras.optimizers.Adam` (Kingma and Ba 2015) on whole gradients, as `GradientNorm` says.

    `gradient_norm` is what `StepScalars` writes for TensorBoard.

    The numbers are Keras'. On TensorFlow one op updates a weight and both its moments, where Keras
    passes over them a dozen times, which costs twice as much.

    Args:
        *args: of `keras.optimizers.Adam`.
        **kwargs: likewise.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update one weight, as `keras.optimizers.Adam` does."""
        if keras.backend.backend() != "tensorflow" or self.amsgrad:
            super().update_step(gradient, variable, learning_rate)
            return
        import tensorflow as tf

        index = self._get_variable_index(variable)
        moments = self._momentums[index].value, self._velocities[index].value
        step = tf.cast(self.iterations + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=moments[0].handle,
            v=moments[1].handle,
            beta1_power=tf.pow(tf.cast(self.beta_1, variable.dtype), step),
            beta2_power=tf.pow(tf.cast(self.beta_2, variable.dtype), step),
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=tf.cast(self.beta_1, variable.dtype),
            beta2=tf.cast(self.beta_2, variable.dtype),
            epsilon=tf.cast(self.epsilon, variable.dtype),
            grad=tf.cast(gradient, variable.dtype),
        )

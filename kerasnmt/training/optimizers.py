"""Adam with gradient norms, and Adam for several devices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from kerasnmt.speed.adam import FusedAdam

if TYPE_CHECKING:
    from keras.optimizers import Optimizer as _Mixin
else:
    _Mixin = object


class GradientNorm(_Mixin):
    """Mixin of Keras optimizers, which measures the norm of the gradient.

    List it before the class of the optimizer, as in `kerasnmt.training.Adam`:

    ```python
    class SGD(GradientNorm, keras.optimizers.SGD):
        ...
    ```

    `gradient_norm`, a float32 scalar variable of the optimizer, is the Euclidean norm of the latest
    gradient over all weights, before clipping:

    - With gradient accumulation, it is the norm of the mean gradient, and changes only at an
      update.
    - With loss scaling, it is the norm of the unscaled gradient.
    - On several devices, it is the sum of the devices' norms, which is about the norm on one
      device.

    The mixin also corrects the gradients of embeddings. On TensorFlow, such a gradient consists of
    slices, one for each occurrence of a word. Keras squares the slices separately for its norms and
    for Adam's second moment, so frequent words have far too little weight. This class adds the
    slices up first, like other backends.
    """

    def build(self, variables: list[Any]) -> None:
        """Create the variables of the optimizer, and a variable for the norm."""
        if self.built:
            return
        super().build(variables)
        self.gradient_norm = self.add_variable(
            (), dtype="float32", aggregation="sum", name="gradient_norm"
        )

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Update the weights, and store the norm."""
        if not self.built:
            variables: Any = trainable_variables
            self.build(list(variables))
        grads = [_dense(gradient) for gradient in grads]
        norm, before = self._norm(grads), ops.copy(self.iterations)
        super().apply(grads, trainable_variables)
        last = ops.convert_to_tensor(self.gradient_norm)
        self.gradient_norm.assign(ops.where(self.iterations > before, norm, last))

    def _norm(self, grads: Sequence[Any]) -> Any:
        """Return the norm of the mean of these gradients and the accumulated ones."""
        steps = self.gradient_accumulation_steps or 1
        if steps > 1:
            sums = [v for v in self.variables if v.name.endswith("gradient_accumulator")]
            grads = [g if g is None else g + sum_ for g, sum_ in zip(grads, sums, strict=True)]
        squares = [ops.sum(ops.square(gradient)) for gradient in grads if gradient is not None]
        norm = ops.cast(ops.sqrt(ops.sum(ops.stack(squares))), "float32")
        return norm / (steps * (self.loss_scale_factor or 1.0))


@keras.saving.register_keras_serializable("kerasnmt")
class Adam(GradientNorm, FusedAdam):
    """`keras.optimizers.Adam` with the gradient norm and correct gradients of embeddings.

    See `GradientNorm`. `StepScalars` writes its `gradient_norm` for TensorBoard. On TensorFlow, one
    op updates a weight and both its moments, with the results of Keras.

    Source: Kingma and Ba (2015), "Adam: A method for stochastic optimization".

    For the arguments, see `keras.optimizers.Adam`.
    """


@keras.saving.register_keras_serializable("kerasnmt")
class ReplicaAdam(keras.optimizers.Adam):
    """Adam for several devices, which clips the gradient of the whole batch.

    Keras applies `global_clipnorm` to the gradient of each replica, and then adds the gradients up.
    This class adds them up, clips the sum, and passes equal parts of it to Keras, whose clipping
    does not change them. The gradients of embeddings are corrected; see `GradientNorm`. On one
    device, this class equals `keras.optimizers.Adam`. It takes the same arguments.
    """

    def apply(self, grads: list[Any], trainable_variables: list[Any] | None = None) -> None:
        """Update the weights.

        Args:
            grads: Gradients. A gradient is None if the loss does not depend on the weight.
            trainable_variables: Weights, in the same order, or None for the weights with which the
                optimizer was built.
        """
        import tensorflow as tf

        grads = [None if grad is None else tf.convert_to_tensor(grad) for grad in grads]
        replica = tf.distribute.get_replica_context()
        if self.global_clipnorm and replica.num_replicas_in_sync > 1:
            present = [grad for grad in grads if grad is not None]
            total = replica.all_reduce(tf.distribute.ReduceOp.SUM, present)
            clipped, _ = tf.clip_by_global_norm(total, self.global_clipnorm)
            share = 1.0 / replica.num_replicas_in_sync
            shares = (tf.math.scalar_mul(share, grad) for grad in clipped)
            grads = [None if grad is None else next(shares) for grad in grads]
        super().apply(grads, trainable_variables)


def _dense(gradient: Any) -> Any:
    """Return a dense gradient. The slices of an embedding's gradient on TensorFlow are added up."""
    if keras.backend.backend() != "tensorflow":
        return gradient
    import tensorflow as tf

    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    return ops.segment_sum(gradient.values, gradient.indices, num_segments=gradient.shape[0])

"""Whole gradients, and their size at every step."""

from collections.abc import Sequence
from typing import Any

from keras import ops


class GradientNorm:
    """Lets an optimizer of Keras take whole gradients, and remember how large the last one was.

    It goes before the optimizer's class, as in `kerasnmt.training.Adam`:

    ```python
    class SGD(GradientNorm, keras.optimizers.SGD):
        ...
    ```

    `gradient_norm`, a float32 scalar variable of the optimizer, is the Euclidean norm over all
    weights together, before any clipping. With gradient accumulation it is that of the mean
    gradient, and stays until the next one is whole; with loss scaling that of the gradient without
    the scale; on several devices the sum of what each has, which is about the norm on one.

    TensorFlow hands an optimizer the gradient of an embedding as slices, one for each place where
    a word stands. Keras squares these one by one, for its norms and for Adam's second moment, so a
    frequent word's counts far too little. Here they are added up first, as other backends do.
    """

    def build(self, variables: list[Any]) -> None:
        """Make the optimizer's variables, and one for the norm."""
        if self.built:
            return
        super().build(variables)
        self.gradient_norm = self.add_variable(
            (), dtype="float32", aggregation="sum", name="gradient_norm"
        )

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Remember the norm, and make the step."""
        if not self.built:
            self.build(list(trainable_variables))
        grads = [_whole(gradient) for gradient in grads]
        norm, before = self._norm(grads), ops.copy(self.iterations)
        super().apply(grads, trainable_variables)
        last = ops.convert_to_tensor(self.gradient_norm)
        self.gradient_norm.assign(ops.where(self.iterations > before, norm, last))

    def _norm(self, grads: Sequence[Any]) -> Any:
        """The norm of these gradients, and of those accumulated so far, as the next step's mean."""
        steps = self.gradient_accumulation_steps or 1
        if steps > 1:
            sums = [v for v in self.variables if v.name.endswith("gradient_accumulator")]
            grads = [g if g is None else g + sum_ for g, sum_ in zip(grads, sums, strict=True)]
        squares = [ops.sum(ops.square(gradient)) for gradient in grads if gradient is not None]
        norm = ops.cast(ops.sqrt(ops.sum(ops.stack(squares))), "float32")
        return norm / (steps * (self.loss_scale_factor or 1.0))


def _whole(gradient: Any) -> Any:
    """A gradient with one value a weight, where it is TensorFlow's slices of an embedding's."""
    if not hasattr(gradient, "dense_shape"):
        return gradient
    return ops.segment_sum(gradient.values, gradient.indices, num_segments=gradient.shape[0])

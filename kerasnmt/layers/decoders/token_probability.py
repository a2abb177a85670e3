"""Probabilities of given tokens, for a loss."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from keras import ops


class TokenProbability(NamedTuple):
    """Probabilities of given tokens, for a loss.

    In a loss, `gain` and `mean` must have weights of the same sign, because their gradients must
    not cancel out.

    Attributes:
        log: log p of each token, float32 `[batch, target_length]`.
        mean: Mean of the gain over the vocabulary, of the same shape, for label smoothing.
        measured: Dict of tensors of the same shape that a model reports during training. Its keys
            are the decoder's `measures`.
        objective: What training maximizes instead of log p, of the same shape, or None for log p.
    """

    log: Any
    mean: Any
    measured: dict[str, Any]
    objective: Any = None

    @property
    def gain(self) -> Any:
        """What training maximizes: log p for the cross-entropy, or minus another loss."""
        return self.log if self.objective is None else self.objective


class Targets(NamedTuple):
    """Targets whose probabilities a decoder computes, instead of the whole vocabulary.

    Attributes:
        ids: Int32 `[batch, target_length]`, right-padded with 0; extended ids if the decoder
            copies.
        indices: Indices of the real tokens in the flattened ids, int32 `[tokens]`. A generator
            computes only these tokens; elsewhere its `log` and `mean` are 0. If None, it computes
            every position, for graphs whose shapes must not depend on values.
    """

    ids: Any
    indices: Any = None

    @classmethod
    def real(cls, ids: Any) -> Self:
        """Create targets whose probabilities are computed only for real tokens."""
        (indices,) = ops.nonzero(ops.reshape(ids, (-1,)))
        return cls(ids, ops.cast(indices, "int32"))

    def apply(self, function: Callable, features: Any) -> list[Any]:
        """Apply a function to the features and ids of the tokens.

        Args:
            function: Function from features `[tokens, units]` and ids `[tokens]` to a tuple of
                tensors `[tokens]`.
            features: `[batch, target_length, units]`.

        Returns:
            List of the results, `[batch, target_length]` each.
        """
        shape = ops.shape(features)[:-1]
        ids = ops.reshape(self.ids, (-1,))
        rows = ops.reshape(features, (-1, features.shape[-1]))
        if self.indices is None:
            return [ops.reshape(values, shape) for values in function(rows, ids)]
        values = function(ops.take(rows, self.indices, axis=0), ops.take(ids, self.indices, axis=0))
        indices = self.indices[:, None]
        return [ops.reshape(ops.scatter(indices, one, ops.shape(ids)), shape) for one in values]

"""Greedy search."""

from typing import Any

from keras import ops

from kerasnmt.decoding.paths import Paths


class GreedySearch(Paths):
    """Search that chooses the most probable next token until the end or the maximum length."""

    def choose(self, log_probabilities: Any, time: Any, numbers: Any) -> tuple[Any, Any]:
        """Choose the most probable tokens; see `Paths`."""
        best, ids = ops.top_k(log_probabilities, 1)
        return ops.cast(ids[..., 0], "int32"), best[..., 0]

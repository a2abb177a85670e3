"""The step with which every search begins."""

from collections.abc import Callable
from typing import Any

from keras import ops, tree


def first_step(step: Callable, states: Any, memory: Any, start_ids: Any) -> tuple[Any, Any, Any]:
    """Make the first step, with the one hypothesis that there is; it shows all shapes to a loop.

    Args:
        step: See `search`.
        states: A structure of tensors `[batch, ...]`.
        memory: See `search`.
        start_ids: Int32 `[batch]`.

    Returns:
        What `step` does: log-probabilities `[batch, 1, vocabulary]`, records and new states
        `[batch, 1, ...]`.
    """
    states = tree.map_structure(lambda state: ops.expand_dims(state, 1), states)
    return step(ops.expand_dims(start_ids, 1), states, memory)

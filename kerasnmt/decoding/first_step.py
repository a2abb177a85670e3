"""First step of every search."""

from collections.abc import Callable
from typing import Any

from keras import ops, tree


def first_step(step: Callable, states: Any, memory: Any, start_ids: Any) -> tuple[Any, Any, Any]:
    """Compute the first step, which has one hypothesis.

    The results determine the shapes in the loop over the other steps.

    Args:
        step: See `search`.
        states: See `search`.
        memory: See `search`.
        start_ids: See `search`.

    Returns:
        The log-probabilities, `[batch, 1, vocabulary]`, and the records and new states,
        `[batch, 1, ...]`.
    """
    states = tree.map_structure(lambda state: ops.expand_dims(state, 1), states)
    return step(ops.expand_dims(start_ids, 1), states, memory)

"""Greedy search."""

from collections.abc import Callable
from typing import Any

from keras import ops

from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.paths import follow_paths
from kerasnmt.decoding.search_options import SearchOptions


def greedy_search(
    step: Callable, states: Any, memory: Any, start_ids: Any, options: SearchOptions, **arguments
) -> Hypotheses:
    """Choose the most probable next token until the end token or the maximum length.

    Args:
        step: See `search`.
        states: See `search`.
        memory: See `search`.
        start_ids: See `search`.
        options: Options with the lengths and the length penalty.
        **arguments: `end_id`, `pad_id`, `max_lengths` and `with_records` of `follow_paths`.

    Returns:
        `Hypotheses`, one for each row.
    """

    def choose(log_probabilities: Any, time: Any, numbers: Any) -> tuple[Any, Any]:
        best, ids = ops.top_k(log_probabilities, 1)
        return ops.cast(ids[..., 0], "int32"), best[..., 0]

    return follow_paths(step, states, memory, start_ids, options, choose, 1, **arguments)

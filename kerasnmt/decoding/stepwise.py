"""Search one step at a time, to see the sequences while they grow."""

from collections.abc import Callable
from functools import partial
from typing import Any

from keras import ops

from kerasnmt.decoding.constraints import constrained
from kerasnmt.decoding.hypotheses import StepOutputs
from kerasnmt.decoding.row_loop import next_room, resized
from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.decoding.searching import searcher


class Stepwise:
    """The search of `kerasnmt.decoding.search` for one sequence, one step at a time.

    It computes the same steps. `begin` and `advance` run eagerly, or in graphs of their own.

    Args:
        step: See `search`.
        options: Options of the search.
        end_id: See `search`.
        pad_id: See `search`.
        never_ids: See `search`.
        with_records: Whether the steps return their records.
    """

    def __init__(
        self,
        step: Callable,
        options: SearchOptions,
        *,
        end_id: int,
        pad_id: int = 0,
        never_ids: tuple[int, ...] = (),
        with_records: bool = False,
    ) -> None:
        self._options = options
        self._constrain = partial(
            constrained, step, options=options, end_id=end_id, pad_id=pad_id, never_ids=never_ids
        )
        # The step reads the constraints from its states and memory.
        self._searcher = searcher(
            self._constrain((), (), 0)[0], options, end_id, pad_id, 1, with_records, False
        )

    def begin(
        self,
        states: Any,
        memory: Any,
        start_ids: Any,
        source_mask: Any,
        *,
        prefix_ids: Any = None,
        sampled_from: Any = None,
    ) -> tuple[dict[str, Any], StepOutputs]:
        """Compute the first step; see `search` for the arguments.

        Returns:
            The argument of `advance`, and the outputs of the step.
        """
        _, states, memory = self._constrain(
            states, memory, ops.shape(start_ids)[0], prefix_ids=prefix_ids
        )
        lengths = self._options.max_lengths(ops.sum(ops.cast(source_mask, "int32"), axis=1))
        now, outputs = self._searcher.begin(
            states, memory, start_ids, lengths[:, None], source_mask, sampled_from
        )
        return now, self._told(now, outputs)

    def advance(self, now: dict[str, Any]) -> tuple[dict[str, Any], StepOutputs]:
        """Compute the next step, and return the same as `begin`."""
        if now["ids"].shape[0] is None:  # as in `row_loop`
            room = next_room(now["time"], self._options.max_length)
            now = {**now, "states": resized(now["states"], room)}
        following, outputs = self._searcher.extend(now)
        return following, self._told(following, outputs)

    def _told(self, now: dict[str, Any], outputs: tuple) -> StepOutputs:
        search = self._searcher
        ids, parents, records, _ = outputs
        return StepOutputs(
            ids,
            parents,
            search.live(now),
            now["ended"],
            search.ranks(now),
            search.unfinished(now),
            records,
        )

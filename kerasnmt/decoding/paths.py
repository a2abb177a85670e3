"""Sequences that grow by one token at each step and never branch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keras import ops, tree

from kerasnmt.decoding.buffers import allocate, batch_major, clear, reorder, write
from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.penalties import length_penalty
from kerasnmt.decoding.search_options import SearchOptions


@dataclass(frozen=True)
class Paths:
    """Base class of searches that choose one token for each sequence at each step.

    A row is finished when all its sequences have ended. In all methods, `now` is the state of the
    loop. A subclass implements `choose`.

    Args:
        step: See `search`, after `constrained`.
        options: Options with the number of sequences, the lengths and the length penalty.
        end_id: See `search`.
        pad_id: See `search`.
        n_best: Number of sequences to return for each row.
        with_records: See `search`.
    """

    step: Callable
    options: SearchOptions
    end_id: int
    pad_id: int
    n_best: int
    with_records: bool

    def choose(self, log_probabilities: Any, time: Any, numbers: Any) -> tuple[Any, Any]:
        """Choose the next tokens.

        Args:
            log_probabilities: Float32 `[batch, hypotheses, vocabulary]`, with one hypothesis at the
                first step.
            time: Index of the step.
            numbers: From `numbers`.

        Returns:
            The tokens, int32 `[batch, hypotheses]`, and their log-probabilities, float32
            `[batch, hypotheses]`.
        """
        raise NotImplementedError

    def numbers(self, sampled_from: Any) -> Any:
        """Return the argument of `choose`, a structure of tensors `[batch, ...]`. By default, none.

        Args:
            sampled_from: See `search`.
        """
        return ()

    def first(self, *arguments: Any) -> dict[str, Any]:
        """Compute the first step, and return the state of the loop after it; see `begin`."""
        now, (ids, _, records, _) = self.begin(*arguments)
        outputs = (ids, records)
        return {**now, "buffers": write(allocate(outputs, self.options.max_length), outputs, 0)}

    def begin(
        self,
        states: Any,
        memory: Any,
        start_ids: Any,
        max_lengths: Any,
        positions: Any = None,
        sampled_from: Any = None,
    ) -> tuple[dict[str, Any], tuple]:
        """Compute the first step, and return the state after it without buffers, and its outputs.

        Args:
            states: First states, a structure of tensors `[batch, ...]`.
            memory: Argument of every step, a structure of tensors `[batch, ...]`.
            start_ids: First tokens, int32 `[batch]`.
            max_lengths: Maximum number of tokens of each row's sequences, int32 `[batch, 1]`, at
                most `options.max_length`.
            positions: For beam search only.
            sampled_from: See `search`.
        """
        # The first step has one hypothesis.
        start = tree.map_structure(lambda one: ops.expand_dims(one, 1), (start_ids, states))
        log_probabilities, records, states = self.step(*start, memory)
        numbers = self.numbers(sampled_from)
        ids, scores = self.choose(log_probabilities, 0, numbers)
        records = records if self.with_records else {}
        if self.options.hypotheses > 1:
            states, records = reorder((states, records), ops.zeros_like(ids))
        now = {
            "memory": memory,
            "numbers": numbers,
            "max_lengths": max_lengths,
            "time": ops.convert_to_tensor(1, "int32"),
            "ids": ids,
            "scores": scores,
            "ended": ops.logical_or(ids == self.end_id, max_lengths <= 1),
            "lengths": ops.ones_like(ids),
            "states": states,
        }
        return now, self._outputs(ids, records)

    def unfinished(self, now: dict[str, Any]) -> Any:
        """Return whether each row needs another step, boolean `[batch]`."""
        return ops.logical_not(ops.all(now["ended"], axis=1))

    def live(self, now: dict[str, Any]) -> Any:
        """Return which sequences are possible, boolean `[batch, hypotheses]`."""
        return now["scores"] > IMPOSSIBLE / 2

    def advance(self, now: dict[str, Any]) -> dict[str, Any]:
        """Compute one step."""
        following, (ids, _, records, _) = self.extend(now)
        return {**following, "buffers": write(now["buffers"], (ids, records), now["time"])}

    def extend(self, now: dict[str, Any]) -> tuple[dict[str, Any], tuple]:
        """Compute one step, and return the state after it without new buffers, and its outputs."""
        log_probabilities, records, states = self.step(now["ids"], now["states"], now["memory"])
        ids, gains = self.choose(log_probabilities, now["time"], now["numbers"])
        ended = now["ended"]
        over = now["time"] + 1 >= now["max_lengths"]
        following = {
            **now,
            "time": now["time"] + 1,
            "ids": ids,
            "scores": now["scores"] + ops.where(ended, 0.0, gains),
            "ended": ops.logical_or(ended, ops.logical_or(ids == self.end_id, over)),
            "lengths": now["lengths"] + ops.cast(ops.logical_not(ended), "int32"),
            "states": states,
        }
        return following, self._outputs(ids, clear(records if self.with_records else {}, ended))

    def best(self, last: dict[str, Any]) -> Hypotheses:
        """Return the sequences, unsorted. An impossible one is empty and has the score -1e9."""
        sequences, records = batch_major(last["buffers"])
        absent = last["scores"] <= IMPOSSIBLE / 2
        lengths = ops.where(absent, 0, last["lengths"])
        kept = ops.arange(self.options.max_length, dtype="int32") < lengths[..., None]
        ids = ops.where(kept, sequences, self.pad_id)
        return Hypotheses(ids, self.ranks(last), clear(records, absent))

    def ranks(self, now: dict[str, Any]) -> Any:
        """Return the rank of each sequence, float32 `[batch, hypotheses]`."""
        options = self.options
        divisor = length_penalty(
            now["lengths"], options.length_penalty, options.length_normalization
        )
        absent = now["scores"] <= IMPOSSIBLE / 2
        return ops.where(absent, IMPOSSIBLE, now["scores"] / divisor)

    def _outputs(self, ids: Any, records: Any) -> tuple:
        """Return the outputs of a step, in the form of `Beam`: each sequence is its own parent."""
        slots = ops.arange(self.options.hypotheses, dtype="int32")
        return ids, ops.broadcast_to(slots, ops.shape(ids)), records, ()

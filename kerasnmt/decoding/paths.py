"""Sequences that grow by one token at each step and never branch."""

from collections.abc import Callable
from typing import Any

from keras import ops

from kerasnmt.decoding.buffers import allocate, batch_major, clear, reorder, write
from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.decoding.first_step import first_step
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.penalties import length_penalty
from kerasnmt.decoding.row_loop import row_loop
from kerasnmt.decoding.search_options import SearchOptions


def follow_paths(
    step: Callable,
    states: Any,
    memory: Any,
    start_ids: Any,
    options: SearchOptions,
    choose: Callable[[Any, Any, Any], tuple[Any, Any]],
    hypotheses: int,
    *,
    numbers: Any = (),
    end_id: int,
    max_lengths: Any,
    pad_id: int = 0,
    with_records: bool = True,
) -> Hypotheses:
    """Choose one token for each hypothesis at each step, until all have ended.

    Args:
        step: See `search`.
        states: See `search`.
        memory: See `search`.
        start_ids: See `search`.
        options: Options with the maximum length and the length penalty.
        choose: Function `choose(log_probabilities, time, numbers) -> (ids, gains)`. The
            log-probabilities are float32 `[batch, hypotheses, vocabulary]`, with one hypothesis at
            the first step. It returns the tokens, int32 `[batch, hypotheses]`, and their
            log-probabilities, float32 `[batch, hypotheses]`.
        hypotheses: Number of sequences for each row.
        numbers: Argument of `choose`, a structure of tensors `[batch, ...]`.
        end_id: See `search`.
        max_lengths: Maximum number of tokens of each row's sequences, int32 `[batch]`, at most
            `options.max_length`.
        pad_id: See `search`.
        with_records: See `search`.

    Returns:
        `Hypotheses`, unsorted. An impossible sequence is empty and has the score -1e9.
    """
    log_probabilities, records, states = first_step(step, states, memory, start_ids)
    ids, scores = choose(log_probabilities, 0, numbers)
    records = records if with_records else {}
    if hypotheses > 1:
        states, records = reorder((states, records), ops.zeros_like(ids))
    max_lengths = max_lengths[:, None]
    first = {
        "memory": memory,
        "numbers": numbers,
        "max_lengths": max_lengths,
        "time": ops.convert_to_tensor(1, "int32"),
        "ids": ids,
        "scores": scores,
        "ended": ops.logical_or(ids == end_id, max_lengths <= 1),
        "lengths": ops.ones_like(ids),
        "states": states,
        "buffers": write(allocate((ids, records), options.max_length), (ids, records), 0),
    }

    def unfinished(now: dict) -> Any:
        return ops.logical_not(ops.all(now["ended"], axis=1))

    def advance(now: dict) -> dict:
        log_probabilities, records, states = step(now["ids"], now["states"], now["memory"])
        ids, gains = choose(log_probabilities, now["time"], now["numbers"])
        ended = now["ended"]
        outputs = (ids, clear(records if with_records else {}, ended))
        over = now["time"] + 1 >= now["max_lengths"]
        return {
            **now,
            "time": now["time"] + 1,
            "ids": ids,
            "scores": now["scores"] + ops.where(ended, 0.0, gains),
            "ended": ops.logical_or(ended, ops.logical_or(ids == end_id, over)),
            "lengths": now["lengths"] + ops.cast(ops.logical_not(ended), "int32"),
            "states": states,
            "buffers": write(now["buffers"], outputs, now["time"]),
        }

    last = row_loop(unfinished, advance, first)
    sequences, records = batch_major(last["buffers"])
    absent = last["scores"] <= IMPOSSIBLE / 2
    lengths = ops.where(absent, 0, last["lengths"])
    kept = ops.arange(options.max_length, dtype="int32") < lengths[..., None]
    divisor = length_penalty(last["lengths"], options.length_penalty, options.length_normalization)
    scores = ops.where(absent, IMPOSSIBLE, last["scores"] / divisor)
    return Hypotheses(ops.where(kept, sequences, pad_id), scores, clear(records, absent))

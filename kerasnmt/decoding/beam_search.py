"""Beam search."""

from collections.abc import Callable
from typing import Any

from keras import ops

from kerasnmt.decoding.buffers import allocate, batch_major, clear, fill, read, reorder, write
from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.decoding.coverage_penalty import coverage_penalty
from kerasnmt.decoding.first_step import first_step
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.length_penalty import length_penalty
from kerasnmt.decoding.row_loop import row_loop
from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.decoding.top_k import top_sums


def beam_search(
    step: Callable,
    states: Any,
    memory: Any,
    start_ids: Any,
    options: SearchOptions,
    *,
    end_id: int,
    max_lengths: Any,
    positions: Any = None,
    n_best: int = 1,
    pad_id: int = 0,
    with_records: bool = True,
) -> Hypotheses:
    """Keep the `options.beam_size` most probable sequences of every row at each step.

    A sequence that reaches the end token is frozen: it keeps its place and its score, and the
    open sequences share the places that are left. A row is finished when `n_best` ended sequences
    rank at least as high as any open one still could.

    Args:
        step: see `search`.
        states: see `search`.
        memory: see `search`.
        start_ids: see `search`.
        options: beam size, lengths, and the penalties by which ended sequences are ranked.
        end_id: see `search`.
        max_lengths: most tokens of each row's sequences, int32 `[batch]`, at most
            `options.max_length`. What is open then is taken as it is.
        positions: boolean `[batch, source_length]`, the source positions that count for a coverage
            penalty.
        n_best: how many sequences are returned; a row is finished when the best so many are
            certain.
        pad_id: see `search`.
        with_records: see `search`.

    Returns:
        `Hypotheses`, `n_best` a row, best first.
    """
    beam_size, max_length = options.beam_size, options.max_length
    covers = options.coverage_penalty > 0
    max_lengths = max_lengths[:, None]

    def divisor(lengths: Any) -> Any:
        return length_penalty(lengths, options.length_penalty, options.length_normalization)

    def rank(now: dict) -> Any:
        ranks = now["scores"] / divisor(now["lengths"])
        if covers:
            attended, strength = now["attended"], options.coverage_penalty
            ranks = ranks + coverage_penalty(attended, now["positions"], strength)
        return ops.where(now["scores"] <= IMPOSSIBLE / 2, IMPOSSIBLE, ranks)

    log_probabilities, records, states = first_step(step, states, memory, start_ids)
    places = ops.broadcast_to(
        ops.arange(beam_size, dtype="int32"), (ops.shape(max_lengths)[0], beam_size)
    )
    scores, ids, parents = _best_extensions(
        ops.zeros_like(log_probabilities[..., 0]), log_probabilities, places, pad_id
    )
    made = (ids, parents, reorder(records if with_records else {}, parents))
    # A row that is finished before others has no more parents: its sequences keep their places.
    buffers = (allocate(ids, max_length), fill(places, max_length), allocate(made[2], max_length))
    first = {
        "memory": memory,
        "max_lengths": max_lengths,
        "time": ops.convert_to_tensor(1, "int32"),
        "ids": ids,
        "scores": scores,
        "ended": ops.logical_or(ids == end_id, max_lengths <= 1),
        "lengths": ops.ones_like(ids),
        "states": reorder(states, parents),
        "made": write(buffers, made, 0),
    }
    if covers:
        first["attended"] = reorder(records["weights"], parents)
        first["positions"] = positions

    def unfinished(now: dict) -> Any:
        ranks = rank(now)
        # Log-probabilities only fall, so the greatest length gives the best that can still come;
        # and coverage cannot give more than 0.
        reachable = now["scores"] / divisor(now["max_lengths"])
        reachable = ops.where(now["ended"], IMPOSSIBLE, reachable)
        # Without rows Keras asks for a first value.
        initial = IMPOSSIBLE if reachable.shape[0] == 0 else None
        most = ops.max(reachable, axis=1, keepdims=True, initial=initial)
        certain = ops.logical_and(now["ended"], ranks >= most)
        wanting = ops.sum(ops.cast(certain, "int32"), axis=1) < n_best
        return ops.logical_and(now["time"] < max_length, wanting)

    def advance(now: dict) -> dict:
        ended = now["ended"]
        log_probabilities, records, states = step(now["ids"], now["states"], now["memory"])
        # The best extension goes to the first place that is open, and so on.
        is_open = ops.cast(ops.logical_not(ended), "int32")
        wanted = ops.cumsum(is_open, axis=1) - is_open
        open_scores = ops.where(ended, IMPOSSIBLE, now["scores"])
        scores, ids, parents = _best_extensions(open_scores, log_probabilities, wanted, pad_id)
        scores = ops.where(ended, now["scores"], scores)
        ids = ops.where(ended, pad_id, ids)
        parents = ops.where(ended, ops.arange(beam_size, dtype="int32"), parents)
        made = (ids, parents, reorder(clear(records if with_records else {}, ended), parents))
        over = now["time"] + 1 >= now["max_lengths"]
        following = {
            **now,
            "time": now["time"] + 1,
            "ids": ids,
            "scores": scores,
            "ended": ops.logical_or(ended, ops.logical_or(ids == end_id, over)),
            "lengths": now["lengths"] + is_open,
            "states": reorder(states, parents),
            "made": write(now["made"], made, now["time"]),
        }
        if covers:
            attended = now["attended"] + clear(records["weights"], ended)
            following["attended"] = reorder(attended, parents)
        return following

    last = row_loop(unfinished, advance, first)
    ranks, best = ops.top_k(rank(last), n_best)
    best = ops.cast(best, "int32")
    ids, records = _trace_back(last["made"], best, last["time"])
    absent = ranks == IMPOSSIBLE
    lengths = ops.where(absent, 0, reorder(last["lengths"], best))
    ids = ops.where(ops.arange(max_length) < lengths[..., None], ids, pad_id)
    return Hypotheses(ids, ranks, clear(records, absent))


def _best_extensions(
    scores: Any, log_probabilities: Any, wanted: Any, pad_id: int
) -> tuple[Any, Any, Any]:
    """Choose among all extensions of all hypotheses.

    Args:
        scores: `[batch, hypotheses]`, log-probability of every sequence.
        log_probabilities: `[batch, hypotheses, vocabulary]`, of every next token.
        wanted: int32 `[batch, beam_size]`: 0 for the best extension, 1 for the next one, and so on.
            Where there are not as many, it is an impossible one.
        pad_id: the token of an impossible one, which so never ends and keeps no place.

    Returns:
        scores, ids and parents, each `[batch, beam_size]`.
    """
    scores, parents, ids = top_sums(scores, log_probabilities, wanted)
    scores = ops.maximum(scores, IMPOSSIBLE)
    return scores, ops.where(scores <= IMPOSSIBLE / 2, pad_id, ids), parents


def _trace_back(made: tuple, places: Any, time: Any) -> tuple[Any, Any]:
    """Follow the parents from the last step to the first.

    Args:
        made: ids, parents and records of every step, `[length, batch, hypotheses, ...]`.
        places: int32 `[batch, n_best]`, where the wanted sequences lie after the last step.
        time: number of steps made.

    Returns:
        ids and records, `[batch, n_best, length, ...]`.
    """
    ids, parents, records = made
    length = ids.shape[0]
    wanted = allocate(reorder(read((ids, records), 0), places), length)

    def follow(time: Any, places: Any, wanted: Any) -> tuple:
        values = reorder(read((ids, records), time), places)
        return time - 1, reorder(read(parents, time), places), write(wanted, values, time)

    *_, wanted = ops.while_loop(lambda time, *_: time >= 0, follow, (time - 1, places, wanted))
    return batch_major(wanted)

"""Beam search."""

from collections.abc import Callable
from typing import Any

from keras import ops, tree

from kerasnmt.decoding.buffers import allocate, batch_major, clear, read, reorder, write
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.length_penalty import length_penalty as penalty

# The log-probability of what cannot be: finite, so that it can be added to and served as JSON.
IMPOSSIBLE = -1e9


def beam_search(
    step: Callable,
    states: Any,
    start_ids: Any,
    *,
    beam_size: int,
    end_id: int,
    max_length: int,
    length_penalty: float = 0.0,
    n_best: int = 1,
    pad_id: int = 0,
) -> Hypotheses:
    """Keep the `beam_size` most probable sequences of every row at each step.

    A sequence that reaches the end token is frozen: it keeps its place and its score, and the
    open sequences share the places that are left. A row is finished when `n_best` ended sequences
    score at least as well as any open one still could; the loop stops when every row is finished.
    In graph on every backend.

    Args:
        step: `step(ids, states) -> (log_probabilities, records, states)`: ids int32
            `[batch, hypotheses]` in, log-probabilities float32 `[batch, hypotheses, vocabulary]`
            out; records and states are structures of tensors `[batch, hypotheses, ...]`. The
            first step has one hypothesis, the following ones `beam_size`.
        states: the first states, a structure of tensors `[batch, ...]`.
        start_ids: int32 `[batch]`, the tokens to begin with.
        beam_size: number of sequences kept.
        end_id: the token that ends a sequence.
        max_length: most tokens of a sequence, the end token included. What is open then is taken
            as it is.
        length_penalty: exponent of `kerasnmt.decoding.length_penalty`, not negative. It divides
            the log-probabilities by which ended sequences are ranked.
        n_best: how many sequences are returned, at most `beam_size`; a row is finished when the
            best so many are certain.
        pad_id: what fills a sequence after its end.

    Returns:
        `Hypotheses`, `n_best` a row, best first.
    """
    # The first step is made outside the loop, with the one hypothesis that there is.
    states = tree.map_structure(lambda state: ops.expand_dims(state, 1), states)
    log_probabilities, records, states = step(ops.expand_dims(start_ids, 1), states)
    scores, ids, parents = _best_extensions(log_probabilities, beam_size, pad_id)
    made = (ids, parents, reorder(records, parents))
    first = {
        "time": ops.convert_to_tensor(1, "int32"),
        "ids": ids,
        "scores": scores,
        "ended": ids == end_id,
        "lengths": ops.ones_like(ids),
        "states": reorder(states, parents),
        "made": write(allocate(made, max_length), made, 0),
    }

    def unfinished(now: dict) -> Any:
        ranks = now["scores"] / penalty(now["lengths"], length_penalty)
        # Log-probabilities only fall, so the greatest length gives the best that can still come.
        reachable = now["scores"] / penalty(max_length, length_penalty)
        reachable = ops.where(now["ended"], IMPOSSIBLE, reachable)
        certain = ops.logical_and(now["ended"], ranks >= ops.max(reachable, axis=1, keepdims=True))
        wanting = ops.sum(ops.cast(certain, "int32"), axis=1) < n_best
        return ops.logical_and(now["time"] < max_length, ops.any(wanting))

    def advance(now: dict) -> tuple[dict]:
        ended = now["ended"]
        log_probabilities, records, states = step(now["ids"], now["states"])
        totals = ops.where(ended, IMPOSSIBLE, now["scores"])[..., None] + log_probabilities
        scores, ids, parents = _best_extensions(totals, beam_size, pad_id)

        places = ops.broadcast_to(ops.arange(beam_size, dtype="int32"), ops.shape(ids))
        order = ops.concatenate(
            [ops.where(ended, places, 3 * beam_size), beam_size + places], axis=1
        )
        kept = ops.argsort(order, axis=1)[:, :beam_size]

        def keep(frozen: Any, extended: Any) -> Any:
            return ops.take_along_axis(ops.concatenate([frozen, extended], axis=1), kept, axis=1)

        scores = keep(now["scores"], scores)
        ids = keep(ops.full_like(ids, pad_id), ids)
        parents = keep(places, parents)
        was_ended = keep(ended, ops.zeros_like(ended))
        lengths = reorder(now["lengths"], parents) + ops.cast(ops.logical_not(was_ended), "int32")
        made = (ids, parents, reorder(clear(records, ended), parents))
        following = {
            "time": now["time"] + 1,
            "ids": ids,
            "scores": scores,
            "ended": ops.logical_or(was_ended, ids == end_id),
            "lengths": lengths,
            "states": reorder(states, parents),
            "made": write(now["made"], made, now["time"]),
        }
        return (following,)

    (last,) = ops.while_loop(unfinished, advance, (first,))
    ranks = last["scores"] / penalty(last["lengths"], length_penalty)
    ranks = ops.where(last["scores"] <= IMPOSSIBLE / 2, IMPOSSIBLE, ranks)
    ranks, best = ops.top_k(ranks, n_best)
    best = ops.cast(best, "int32")
    ids, records = _trace_back(last["made"], best, last["time"])
    absent = ranks == IMPOSSIBLE
    lengths = ops.where(absent, 0, reorder(last["lengths"], best))
    ids = ops.where(ops.arange(max_length) < lengths[..., None], ids, pad_id)
    return Hypotheses(ids, ranks, clear(records, absent))


def _best_extensions(totals: Any, beam_size: int, pad_id: int) -> tuple[Any, Any, Any]:
    """Choose the best of all extensions of all hypotheses.

    Args:
        totals: `[batch, hypotheses, vocabulary]`, log-probability of every extended sequence.
        beam_size: how many to choose. Where there are fewer, the rest are impossible ones.
        pad_id: the token of an impossible one, which so never ends and keeps no place.

    Returns:
        scores, ids and parents, each `[batch, beam_size]`, best first.
    """
    hypotheses, vocabulary_size = ops.shape(totals)[1:]
    flat = ops.reshape(totals, (-1, hypotheses * vocabulary_size))
    # An extended vocabulary's size is known only when the graph runs; it has a place for each.
    known = None not in totals.shape[1:]
    missing = max(0, beam_size - hypotheses * vocabulary_size) if known else beam_size
    flat = ops.pad(flat, ((0, 0), (0, missing)), constant_values=IMPOSSIBLE)
    scores, chosen = ops.top_k(flat, beam_size)
    chosen = ops.cast(chosen, "int32")
    parents = ops.minimum(chosen // vocabulary_size, hypotheses - 1)
    ids = ops.where(scores <= IMPOSSIBLE / 2, pad_id, chosen % vocabulary_size)
    return scores, ids, parents


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

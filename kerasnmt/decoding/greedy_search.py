"""Greedy search."""

from collections.abc import Callable
from typing import Any

from keras import ops, tree

from kerasnmt.decoding.buffers import allocate, batch_major, clear, write
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.length_penalty import length_penalty as penalty


def greedy_search(
    step: Callable,
    states: Any,
    start_ids: Any,
    *,
    end_id: int,
    max_length: int,
    length_penalty: float = 0.0,
    pad_id: int = 0,
) -> Hypotheses:
    """Take the most probable next token until the end token, or until `max_length` tokens.

    In graph on every backend; the loop stops as soon as every row has ended.

    Args:
        step: `step(ids, states) -> (log_probabilities, records, states)`: ids int32
            `[batch, hypotheses]` in, log-probabilities float32 `[batch, hypotheses, vocabulary]`
            out; records and states are structures of tensors `[batch, hypotheses, ...]`. Here
            there is one hypothesis.
        states: the first states, a structure of tensors `[batch, ...]`.
        start_ids: int32 `[batch]`, the tokens to begin with.
        end_id: the token that ends a sequence.
        max_length: most tokens of a sequence, the end token included.
        length_penalty: exponent of `kerasnmt.decoding.length_penalty`, which divides the score.
            It does not change what greedy search finds.
        pad_id: what fills a sequence after its end.

    Returns:
        `Hypotheses` with one hypothesis a row.
    """

    def choose(log_probabilities: Any) -> tuple[Any, Any]:
        best, ids = ops.top_k(log_probabilities, 1)
        return ops.cast(ids[..., 0], "int32"), best[..., 0]

    # The first step is made outside the loop: it shows the shapes of the records.
    states = tree.map_structure(lambda state: ops.expand_dims(state, 1), states)
    log_probabilities, records, states = step(ops.expand_dims(start_ids, 1), states)
    ids, scores = choose(log_probabilities)
    first = {
        "time": ops.convert_to_tensor(1, "int32"),
        "ids": ids,
        "scores": scores,
        "ended": ids == end_id,
        "lengths": ops.ones_like(ids),
        "states": states,
        "written": write(allocate((ids, records), max_length), (ids, records), 0),
    }

    def unfinished(now: dict) -> Any:
        return ops.logical_and(now["time"] < max_length, ops.logical_not(ops.all(now["ended"])))

    def advance(now: dict) -> tuple[dict]:
        log_probabilities, records, states = step(now["ids"], now["states"])
        ids, gains = choose(log_probabilities)
        ended = now["ended"]
        written = (ids, clear(records, ended))
        following = {
            "time": now["time"] + 1,
            "ids": ids,
            "scores": now["scores"] + ops.where(ended, 0.0, gains),
            "ended": ops.logical_or(ended, ids == end_id),
            "lengths": now["lengths"] + ops.cast(ops.logical_not(ended), "int32"),
            "states": states,
            "written": write(now["written"], written, now["time"]),
        }
        return (following,)

    (last,) = ops.while_loop(unfinished, advance, (first,))
    sequences, records = batch_major(last["written"])
    lengths = last["lengths"][..., None]
    sequences = ops.where(ops.arange(max_length) < lengths, sequences, pad_id)
    return Hypotheses(sequences, last["scores"] / penalty(last["lengths"], length_penalty), records)

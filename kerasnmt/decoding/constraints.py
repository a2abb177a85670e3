"""Constraints of a search, as a step function that wraps the model's step."""

from collections.abc import Callable, Sequence
from typing import Any

from keras import ops

from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.decoding.terms import KINDS, TermAutomaton
from kerasnmt.speed.gather import take_rows

IMPOSSIBLE = -1e9
"""Log-probability of an impossible token. It is finite, so that sums and JSON stay valid."""


def constrained(
    step: Callable,
    states: Any,
    memory: Any,
    batch_size: Any,
    options: SearchOptions,
    *,
    end_id: int,
    pad_id: int,
    never_ids: Sequence[int] = (),
    prefix_ids: Any = None,
    terms: TermAutomaton | None = None,
    max_lengths: Any = None,
) -> tuple[Callable, Any, Any]:
    """Wrap a step function so that some tokens are impossible.

    The states of the new step function also contain the length and the tokens of each hypothesis.

    Args:
        step: See `search`.
        states: See `search`.
        memory: See `search`.
        batch_size: Number of rows.
        options: Options with the lengths and `no_repeat_ngram`.
        end_id: See `search`.
        pad_id: Token that pads `prefix_ids`.
        never_ids: See `search`.
        prefix_ids: Tokens with which each sequence must begin, even if another constraint forbids
            them, int32 `[batch, prefix_length]`, right-padded; or None.
        terms: Automaton of the terms, or None. `no_repeat_ngram` does not forbid their tokens.
        max_lengths: Maximum number of tokens of each row's sequences, int32 `[batch]`, for terms.

    Returns:
        The new step function, its first states and its memory. Impossible tokens have a
        log-probability of -1e9 or less.
    """
    carried = {}
    counts = prefix_ids is not None or terms is not None
    if counts or options.min_length > 1 or options.no_repeat_ngram:
        carried["time"] = ops.zeros((batch_size,), dtype="int32")
    if options.no_repeat_ngram:
        carried["history"] = ops.zeros((batch_size, options.max_length), dtype="int32")

    given = {} if prefix_ids is None else {"prefix_ids": prefix_ids}
    if terms is not None:
        given |= {"terms": terms.tables, "max_lengths": max_lengths}
        carried["terms"] = terms.first(given["terms"])

    def constrained_step(ids: Any, states: tuple[Any, dict], memory: tuple[Any, dict]) -> tuple:
        (states, carried), (memory, given) = states, memory
        log_probabilities, records, states = step(ids, states, memory)
        vocabulary = ops.arange(ops.shape(log_probabilities)[-1], dtype="int32")
        masked = log_probabilities
        if never_ids:
            never = ops.any(vocabulary == ops.convert_to_tensor(never_ids)[:, None], axis=0)
            # `ops.where` on the log-probabilities gives the same search, but is slower.
            masked = masked + IMPOSSIBLE * ops.cast(never, masked.dtype)
        time: Any = carried.get("time")
        following = {} if time is None else {"time": time + 1}
        if options.min_length > 1:
            early = (time + 1 < options.min_length)[..., None]
            masked = ops.where(ops.logical_and(early, vocabulary == end_id), IMPOSSIBLE, masked)
        if options.no_repeat_ngram:
            now = ops.arange(options.max_length, dtype="int32") == time[..., None]
            history = ops.where(now, ids[..., None], carried["history"])
            masked = _without_repetition(masked, history, time, options.no_repeat_ngram)
            following["history"] = history
        if terms is not None:
            room = given["max_lengths"][:, None] - time
            free = log_probabilities if options.no_repeat_ngram else masked
            masked, following["terms"] = _with_terms(
                terms, free, masked, ids, carried["terms"], given["terms"], room
            )
        if "prefix_ids" in given:
            wanted = _at(given["prefix_ids"], time, pad_id)[..., None]
            other = ops.where(vocabulary == wanted, log_probabilities, IMPOSSIBLE)
            masked = ops.where(wanted == pad_id, masked, other)
        return masked, records, (states, following)

    return constrained_step, (states, carried), (memory, given)


def _without_repetition(log_probabilities: Any, history: Any, time: Any, size: int) -> Any:
    """Forbid the tokens that would repeat an n-gram of the sequence.

    Args:
        log_probabilities: `[batch, hypotheses, vocabulary]`.
        history: Tokens fed so far, int32 `[batch, hypotheses, max_length]`.
        time: Index of the last token fed, int32 `[batch, hypotheses]`.
        size: Size n of the n-grams.
    """
    length = history.shape[-1]
    if size > length:
        return log_probabilities
    ends = ops.arange(size - 1, length, dtype="int32")  # last indices of all n-grams
    repeated = ends <= time[..., None]
    for offset in range(1, size):
        last = take_rows(history, ops.maximum(time - offset + 1, 0)[..., None], axis=2)
        earlier = history[..., size - 1 - offset : length - offset]
        repeated = ops.logical_and(repeated, earlier == last)

    # Updates without a repetition go to an extra last index, which exists for an empty batch too.
    shape = ops.shape(log_probabilities)
    flat = ops.pad(ops.reshape(log_probabilities, (-1,)), ((0, 1),))
    rows = ops.reshape(ops.arange(shape[0] * shape[1], dtype="int32"), (-1, shape[1], 1))
    ids = history[..., size - 1 :]
    repeated = ops.logical_and(repeated, ids < shape[2])  # the start token may be outside
    repeated = ops.logical_and(repeated, ids >= 0)  # the padding after an end may be negative
    indices = rows * shape[2] + ids
    indices = ops.reshape(ops.where(repeated, indices, shape[0] * shape[1] * shape[2]), (-1, 1))
    updates = ops.full_like(indices[:, 0], IMPOSSIBLE, dtype=flat.dtype)
    return ops.reshape(ops.scatter_update(flat, indices, updates)[:-1], shape)


def _with_terms(
    terms: TermAutomaton,
    free: Any,
    masked: Any,
    ids: Any,
    state: dict[str, Any],
    tables: dict[str, Any],
    room: Any,
) -> tuple[Any, dict[str, Any]]:
    """Forbid the tokens after which the terms could not be met.

    Args:
        terms: Automaton of the terms.
        free: Log-probabilities of the tokens of terms, `[batch, hypotheses, vocabulary]`.
        masked: Log-probabilities with other constraints, of the same shape.
        ids: Tokens fed, int32 `[batch, hypotheses]`.
        state: First state of the automaton, or the result of the step before.
        tables: Tables of the automaton.
        room: Number of tokens that fit into each sequence, int32 `[batch, hypotheses]`.

    Returns:
        The log-probabilities, and the state with the results of `TermAutomaton.choices`, `progress`
        and `needed`.
    """
    if "needed" in state:
        state = terms.chosen(state, tables, ids)
    state, possible, progress, needed = terms.choices(state, tables, room)
    count = ops.shape(tables["tokens"])[1]
    vocabulary_size = ops.shape(masked)[-1]
    vocabulary = ops.arange(vocabulary_size, dtype="int32")
    # The tokens of terms, and the end token, are masked one by one, and others by their kind.
    refused = ops.where(possible[..., count:-1], 0.0, IMPOSSIBLE)
    kinds = ops.equal(ops.arange(KINDS, dtype="int32")[:, None], terms.kind_of(vocabulary))
    # A new tensor, which TensorFlow changes in place, even if no kind is refused.
    others = masked + ops.matmul(refused, ops.cast(kinds, "float32"))
    progress = progress[..., :count]
    end = ops.full_like(needed[..., :1], terms.end_id)
    tokens = tables["tokens"][:, None] + ops.zeros_like(needed[..., :count])
    # A padding token stands for the end token.
    tokens = ops.where(ops.logical_and(tokens >= 0, tokens < vocabulary_size), tokens, end)
    own = take_rows(masked, tokens, axis=2)
    if free is not masked:
        own = ops.where(progress, take_rows(free, tokens, axis=2), own)
    values = ops.concatenate([own, take_rows(masked, end, axis=2)], axis=-1)
    possible = ops.concatenate([possible[..., :count], possible[..., -1:]], axis=-1)
    values = ops.where(possible, values, IMPOSSIBLE)
    tokens = ops.concatenate([tokens, end], axis=-1)
    values = ops.where(ops.equal(tokens, end), values[..., -1:], values)
    masked = _replaced(others, tokens, values)
    return masked, {**state, "progress": progress, "needed": needed}


def _replaced(log_probabilities: Any, ids: Any, values: Any) -> Any:
    """Replace the log-probabilities of tokens, int32 `[batch, hypotheses, n]`."""
    rows, hypotheses, vocabulary = ops.shape(log_probabilities)
    starts = ops.arange(rows * hypotheses, dtype="int32") * vocabulary
    indices = ops.reshape(ops.reshape(starts, (-1, hypotheses, 1)) + ids, (-1, 1))
    flat = ops.reshape(log_probabilities, (-1,))
    flat = ops.scatter_update(flat, indices, ops.reshape(values, (-1,)))
    return ops.reshape(flat, ops.shape(log_probabilities))


def _at(prefix_ids: Any, time: Any, pad_id: int) -> Any:
    """Return the token of a prefix at `time`, or padding after it, int32 `[batch, hypotheses]`."""
    length = ops.shape(prefix_ids)[1]
    padded = ops.pad(prefix_ids, ((0, 0), (0, 1)), constant_values=pad_id)
    return take_rows(padded, ops.minimum(time, length))

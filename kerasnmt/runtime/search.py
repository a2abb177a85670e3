"""Beam search, greedy search and samples of `kerasnmt.decoding` on NumPy arrays, without Keras.

The searches of `kerasnmt.decoding` run in a graph, where all sizes are constant. Here, a row that
is finished leaves the loop, and each step keeps its own arrays. The numbers are the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.decoding.hypotheses import Hypotheses, StepOutputs
from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.runtime.random_numbers import row_keys, uniforms
from kerasnmt.runtime.terms import IMPOSSIBLE, Terms

# Number of values in a group of `_best`.
_GROUP = 256

Arrays = dict[str, np.ndarray]
Step = Callable[[np.ndarray, Arrays, Arrays], tuple[np.ndarray, Arrays, Arrays]]


def search(
    step: Step,
    states: Arrays,
    memory: Arrays,
    source_mask: np.ndarray,
    options: SearchOptions,
    *,
    never_ids: Sequence[int] = (),
    n_best: int = 1,
    prefix_ids: np.ndarray | None = None,
    terms: Terms | None = None,
    sampled_from: Mapping[str, np.ndarray] | None = None,
) -> Hypotheses:
    """Find the best sequences of each row; see `kerasnmt.decoding.search`.

    Args:
        step: Function `step(ids, states, memory) -> (log_probabilities, records, states)`. The ids
            are int32 `[rows, hypotheses]`, the log-probabilities float32
            `[rows, hypotheses, vocabulary]`, and records and states are dicts of arrays
            `[rows, hypotheses, ...]`. The first step has one hypothesis. Later steps may have fewer
            rows.
        states: First states, `[batch, 1, ...]` each.
        memory: Argument of every step, `[batch, ...]` each.
        source_mask: Boolean `[batch, source_length]`, True = real token.
        options: Options of the search.
        never_ids: Tokens that no sequence contains.
        n_best: Number of sequences to return for each row, at most `options.hypotheses`.
        prefix_ids: Tokens with which each sequence must begin, int32 `[batch, prefix_length]`,
            padded on the right with 0, or None.
        terms: Terms that the sequences must contain, or must not. Without samples only.
        sampled_from: Inputs of the model, which determine the samples of each row.

    Returns:
        The hypotheses, whose axis of steps is as long as the longest of them.
    """
    loop = _Loop(options, n_best, sampled_from or {}, terms)
    last = loop.run(step, states, memory, source_mask, list(never_ids), prefix_ids)
    ranks = loop.ranks(last, source_mask)
    if options.samples:
        slots = np.broadcast_to(np.arange(ranks.shape[1]), ranks.shape)
        ids = loop.traced_back(slots)[0]
        equal = (ids[:, :, None] == ids[:, None]).all(axis=-1)
        ranks = np.where(np.tril(equal, -1).any(axis=-1), IMPOSSIBLE, ranks)
    best = np.argsort(-ranks, axis=1, kind="stable")[:, :n_best]
    scores = np.take_along_axis(ranks, best, axis=1)
    absent = scores <= IMPOSSIBLE / 2
    ids, records = loop.traced_back(best)
    records = {name: _cleared(record, absent) for name, record in records.items()}
    return Hypotheses(_cleared(ids, absent), scores, records)


def search_steps(
    step: Step,
    states: Arrays,
    memory: Arrays,
    source_mask: np.ndarray,
    options: SearchOptions,
    *,
    never_ids: Sequence[int] = (),
    prefix_ids: np.ndarray | None = None,
    sampled_from: Mapping[str, np.ndarray] | None = None,
) -> Iterator[StepOutputs]:
    """Search for the best sequence of one row, and yield each step as it is computed.

    See `search` for the arguments, whose batch is 1.
    """
    loop = _Loop(options, 1, sampled_from or {})
    for now, parents, records, unfinished in loop.steps_of(
        step, states, memory, source_mask, list(never_ids), prefix_ids
    ):
        yield StepOutputs(
            now.ids,
            parents,
            loop.live(now, source_mask),
            now.ended,
            loop.ranks(now, source_mask),
            unfinished,
            records,
        )


class _Now(NamedTuple):
    """Hypotheses after a step.

    Attributes:
        rows: Index of each row in the batch, `[rows]`.
        ids: Last token of each hypothesis, int32 `[rows, hypotheses]`.
        scores: Log-probability, float32 `[rows, hypotheses]`.
        ended: Whether the sequence has ended, boolean `[rows, hypotheses]`.
        lengths: Number of tokens, int32 `[rows, hypotheses]`.
        max_lengths: Maximum number of tokens, int32 `[rows, 1]`.
        fed: Tokens fed so far, int32 `[rows, hypotheses, time]`.
        attended: Sums of the attention weights, float32 `[rows, hypotheses, source_length]`.
        terms: States of the automata of terms, int32 `[rows, hypotheses]`.
    """

    rows: np.ndarray
    ids: np.ndarray
    scores: np.ndarray
    ended: np.ndarray
    lengths: np.ndarray
    max_lengths: np.ndarray
    fed: np.ndarray
    attended: np.ndarray
    terms: np.ndarray


class _Kept(NamedTuple):
    """What a step adds to the sequences of all rows, `[batch, hypotheses, ...]` each."""

    ids: np.ndarray
    parents: np.ndarray
    records: Arrays


class _Loop:
    """Steps of a search.

    A finished row stays in `steps` as it was, without further tokens.
    """

    def __init__(
        self,
        options: SearchOptions,
        n_best: int,
        sampled_from: Mapping[str, np.ndarray],
        terms: Terms | None = None,
    ) -> None:
        self.options, self.terms = options, terms
        self.size = options.hypotheses
        self.wanted = options.samples or n_best
        self.steps: list[_Kept] = []
        if options.samples:
            shape = (options.samples, options.max_length)
            self.numbers = uniforms(row_keys(sampled_from), options.seed, shape)

    def run(
        self,
        step: Step,
        states: Arrays,
        memory: Arrays,
        source_mask: np.ndarray,
        never_ids: list[int],
        prefix_ids: np.ndarray | None,
    ) -> _Now:
        """Compute steps until each row has the hypotheses that are wanted; return all rows."""
        batch, length = source_mask.shape
        last = {
            "scores": np.zeros((batch, self.size), "float32"),
            "lengths": np.zeros((batch, self.size), "int32"),
            "attended": np.zeros((batch, self.size, length), "float32"),
        }
        for now, parents, records, _ in self.steps_of(
            step, states, memory, source_mask, never_ids, prefix_ids
        ):
            self._keep(batch, now, parents, records)
            for name, values in last.items():
                values[now.rows] = getattr(now, name)
        return self._first(source_mask)._replace(**last)

    def steps_of(
        self,
        step: Step,
        states: Arrays,
        memory: Arrays,
        source_mask: np.ndarray,
        never_ids: list[int],
        prefix_ids: np.ndarray | None,
    ) -> Iterator[tuple[_Now, np.ndarray, Arrays, np.ndarray]]:
        """Compute steps until each row has the hypotheses that are wanted.

        Yields:
            The hypotheses of the unfinished rows after a step, their parents and the records of the
            step, and whether each row needs another step, boolean `[rows]`.
        """
        now = self._first(source_mask)
        while len(now.rows):
            log_probabilities, records, states = step(now.ids, states, memory)
            now = now._replace(fed=np.concatenate([now.fed, now.ids[..., None]], axis=2))
            masked = self._masked(log_probabilities, now, never_ids, prefix_ids)
            parents, following = self._extended(masked, now)
            if self.options.coverage_penalty:
                attended = now.attended + _cleared(records["weights"], now.ended)
                following = following._replace(attended=_at(attended, parents))
            records = {
                name: _at(_cleared(one, now.ended), parents) for name, one in records.items()
            }
            states = {name: _at(state, parents) for name, state in states.items()}
            now = following
            unfinished = self._unfinished(now, source_mask)
            yield now, parents, records, unfinished
            if not unfinished.all():
                now = _Now(*(values[unfinished] for values in now))
                source_mask = source_mask[unfinished]
                states = {name: state[unfinished] for name, state in states.items()}
                memory = {name: value[unfinished] for name, value in memory.items()}

    def _first(self, source_mask: np.ndarray) -> _Now:
        """Return the hypotheses before the first step, one for each row."""
        batch = len(source_mask)
        one = (batch, 1)
        return _Now(
            rows=np.arange(batch),
            ids=np.full(one, START_ID, "int32"),
            scores=np.zeros(one, "float32"),
            ended=np.zeros(one, bool),
            lengths=np.zeros(one, "int32"),
            max_lengths=self._max_lengths(source_mask.sum(axis=1))[:, None],
            fed=np.zeros((*one, 0), "int32"),
            attended=np.zeros((*one, source_mask.shape[1]), "float32"),
            terms=np.zeros(one, "int32"),
        )

    def live(self, now: _Now, source_mask: np.ndarray) -> np.ndarray:
        """Return which sequences the best one can be or begin with, `[rows, hypotheses]`.

        See `kerasnmt.decoding.StepOutputs`.
        """
        ranks = np.where(now.ended, self.ranks(now, source_mask), IMPOSSIBLE)
        is_best = np.arange(self.size) == ranks.argmax(axis=1)[:, None]
        reaches = self._reachable(now) >= ranks.max(axis=1, keepdims=True)
        return (now.scores > IMPOSSIBLE / 2) & np.where(now.ended, is_best, reaches)

    def ranks(self, now: _Now, source_mask: np.ndarray) -> np.ndarray:
        """Return the rank of each sequence, float32 `[rows, hypotheses]`."""
        ranks = now.scores / self._divisor(now.lengths)
        if beta := self.options.coverage_penalty:
            logarithms = np.log(np.clip(now.attended, 1e-10, 1.0))
            ranks = ranks + beta * np.where(source_mask[:, None], logarithms, 0.0).sum(axis=-1)
        return np.where(now.scores <= IMPOSSIBLE / 2, IMPOSSIBLE, ranks).astype("float32")

    def traced_back(self, slots: np.ndarray) -> tuple[np.ndarray, Arrays]:
        """Return the ids and records of the sequences in slots, `[batch, n_best, length, ...]`."""
        if not self.steps:  # a batch without rows
            return np.zeros((*slots.shape, 0), "int32"), {}
        reverse = []
        for step in reversed(self.steps):
            reverse.append({"ids": step.ids, **step.records})
            reverse[-1] = {name: _at(values, slots) for name, values in reverse[-1].items()}
            slots = _at(step.parents, slots)
        joined = {name: np.stack([one[name] for one in reverse[::-1]], 2) for name in reverse[0]}
        return joined.pop("ids"), joined

    def _max_lengths(self, source_lengths: np.ndarray) -> np.ndarray:
        options = self.options
        if options.max_length_ratio is None:
            return np.full(len(source_lengths), options.max_length)
        lengths = np.ceil(np.float32(options.max_length_ratio) * source_lengths.astype("float32"))
        # An int32 does not hold the lengths of a huge ratio.
        lengths = np.minimum(lengths, options.max_length).astype("int32")
        lengths += options.max_length_margin
        return np.clip(lengths, options.min_length, options.max_length)

    def _masked(
        self,
        log_probabilities: np.ndarray,
        now: _Now,
        never_ids: list[int],
        prefix_ids: np.ndarray | None,
    ) -> np.ndarray:
        """Make some tokens impossible; see `kerasnmt.decoding.constraints`."""
        masked, time = np.array(log_probabilities), now.fed.shape[2] - 1
        masked[..., never_ids] += IMPOSSIBLE
        if time + 1 < self.options.min_length:
            masked[..., END_ID] = IMPOSSIBLE
        if self.options.no_repeat_ngram:
            _forbid_repetition(masked, now.fed, self.options.no_repeat_ngram)
        if self.terms is not None:
            free = log_probabilities if self.options.no_repeat_ngram else masked
            self.terms.mask(masked, free, now.rows, now.terms, now.max_lengths - time)
        if prefix_ids is not None and time < prefix_ids.shape[1]:
            prefix = prefix_ids[now.rows, time]
            for row in np.flatnonzero(prefix != PAD_ID):
                masked[row] = IMPOSSIBLE
                masked[row, :, prefix[row]] = log_probabilities[row, :, prefix[row]]
        return masked

    def _extended(self, masked: np.ndarray, now: _Now) -> tuple[np.ndarray, _Now]:
        """Return the parent of each new hypothesis, and the new hypotheses."""
        length = now.fed.shape[2]
        shape = (len(now.rows), self.size)
        slots = np.broadcast_to(np.arange(self.size), shape)
        ended = np.broadcast_to(now.ended, shape)
        if self.options.samples:
            ids, gains = self._drawn(masked, self.numbers[now.rows, :, length - 1])
            scores = now.scores + gains
            parents = slots if length > 1 else np.zeros_like(slots)
        else:
            # The best extension goes to the first open slot, the second best to the second.
            wanted = np.where(ended, 0, np.cumsum(~ended, axis=1) - 1)
            total = np.where(now.ended, IMPOSSIBLE, now.scores)[..., None] + masked
            scores, ids, parents = self._best(total, wanted, now)
        parents = np.where(ended, slots, parents)
        ids = np.where(ended, PAD_ID, ids).astype("int32")
        if self.terms is not None:
            now = now._replace(terms=self.terms.after(now.rows, _at(now.terms, parents), ids))
        return parents, now._replace(
            ids=ids,
            scores=np.where(ended, now.scores, scores).astype("float32"),
            ended=ended | (ids == END_ID) | (length >= now.max_lengths),
            lengths=np.where(ended, now.lengths, length).astype("int32"),
            fed=_at(now.fed, parents),
        )

    def _best(
        self, total: np.ndarray, wanted: np.ndarray, now: _Now
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.terms is None:
            return _best(total, wanted)
        best = _best(total, np.broadcast_to(np.arange(self.size), wanted.shape))
        room = now.max_lengths - now.fed.shape[2] + 1
        best = self.terms.best(total, best, now.rows, now.terms, room)
        scores, ids, parents = (np.take_along_axis(one, wanted, axis=1) for one in best)
        return scores, ids, parents

    def _drawn(self, masked: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draw a token for each hypothesis; see `kerasnmt.decoding.sampling`."""
        options, size = self.options, masked.shape[-1]
        kept = min(options.top_k or size, size)
        order = np.argsort(-masked, axis=-1, kind="stable")[..., :kept]
        best = np.take_along_axis(masked, order, axis=-1)
        possible = best > IMPOSSIBLE / 2
        tempered = np.where(possible, best / np.float32(options.temperature), IMPOSSIBLE)
        exponentials = np.exp(tempered - tempered.max(axis=-1, keepdims=True))
        probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
        before = np.cumsum(probabilities, axis=-1) - probabilities
        left = np.where(before < options.top_p, probabilities, np.float32(0))
        total = np.cumsum(left, axis=-1)
        drawn = numbers[..., None] * total[..., -1:]
        # If rounding made a number as large as the total, take the last remaining token.
        index = np.minimum((total <= drawn).sum(axis=-1), (left > 0).sum(axis=-1) - 1)[..., None]
        shape = (*index.shape[:2], kept)  # the first step has one hypothesis
        return (
            np.take_along_axis(np.broadcast_to(order, shape), index, axis=-1)[..., 0],
            np.take_along_axis(np.broadcast_to(best, shape), index, axis=-1)[..., 0],
        )

    def _keep(self, batch: int, now: _Now, parents: np.ndarray, records: Arrays) -> None:
        def in_batch(values: np.ndarray, others: Any = 0) -> np.ndarray:
            everywhere = np.zeros((batch, *values.shape[1:]), values.dtype)
            everywhere[:] = others
            everywhere[now.rows] = values
            return everywhere

        self.steps.append(
            _Kept(
                in_batch(now.ids),
                in_batch(parents, np.arange(self.size)),
                {name: in_batch(values) for name, values in records.items()},
            )
        )

    def _unfinished(self, now: _Now, source_mask: np.ndarray) -> np.ndarray:
        """Return whether a row needs another step, boolean `[rows]`."""
        reachable = np.where(now.ended, IMPOSSIBLE, self._reachable(now))
        certain = self.ranks(now, source_mask) >= reachable.max(axis=1, keepdims=True)
        wanting = (now.ended & certain).sum(axis=1) < self.wanted
        return wanting & ~now.ended.all(axis=1)

    def _reachable(self, now: _Now) -> np.ndarray:
        """Return the highest rank that each open sequence can reach.

        Log-probabilities only fall. So it ranks at most as high as with its present
        log-probability, the maximum length and a coverage penalty of 0.
        """
        return now.scores / self._divisor(now.max_lengths)

    def _divisor(self, lengths: np.ndarray) -> np.ndarray:
        bases = lengths.astype("float32")
        if self.options.length_normalization == "wu":
            bases = (5 + bases) / 6
        return bases ** np.float32(self.options.length_penalty)


def _best(total: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose the best extensions of all hypotheses; see `kerasnmt.decoding.beam_search`.

    Args:
        total: Log-probabilities of all extensions, float32 `[rows, hypotheses, vocabulary]`.
        wanted: Ranks of the wanted extensions, `[rows, beam_size]`; 0 is the best. A rank that does
            not exist gives an impossible extension.

    Returns:
        The scores, ids and parents, `[rows, beam_size]` each.
    """
    rows, hypotheses, size = total.shape
    flat = total.reshape(rows, hypotheses * size)
    count = min(wanted.shape[1], flat.shape[1])
    # At least `count` values reach the lowest of the highest values of `count` groups.
    groups = flat[:, : flat.shape[1] // _GROUP * _GROUP].reshape(rows, _GROUP, -1).max(axis=1)
    if groups.shape[1] > count:
        least = np.partition(groups, -count, axis=1)[:, -count]
    else:
        least = np.full(rows, -np.inf)
    values = flat.ravel()
    candidates = np.flatnonzero(flat >= least[:, None])
    row = candidates // flat.shape[1]
    order = np.lexsort((-values[candidates], row))  # of equal extensions, the first is first
    first = np.searchsorted(row, np.arange(rows))[:, None]
    chosen = candidates[order[first + np.minimum(wanted, count - 1)]]
    scores = np.where(wanted < count, np.maximum(values[chosen], IMPOSSIBLE), IMPOSSIBLE)
    parents, ids = np.divmod(chosen % flat.shape[1], size)
    return scores, np.where(scores <= IMPOSSIBLE / 2, PAD_ID, ids), parents


def _forbid_repetition(masked: np.ndarray, fed: np.ndarray, size: int) -> None:
    """Forbid the tokens that would repeat an n-gram of the sequence."""
    length = fed.shape[2]
    if length < size:
        return
    ngrams = np.lib.stride_tricks.sliding_window_view(fed, size, axis=2)
    begun = fed[:, :, None, length - size + 1 :]
    again = (ngrams[..., :-1] == begun).all(axis=-1) & (ngrams[..., -1] < masked.shape[2])
    rows, hypotheses, index = np.nonzero(again)
    masked[rows, hypotheses, ngrams[rows, hypotheses, index, -1]] = IMPOSSIBLE


def _at(values: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """Return the values `[rows, hypotheses, ...]` of the hypotheses in slots `[rows, k]`."""
    return values[np.arange(len(slots))[:, None], slots]


def _cleared(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Set values `[rows, hypotheses, ...]` to 0 where a mask `[rows, hypotheses]` is True."""
    mask = where.reshape(*where.shape, *[1] * (values.ndim - 2))
    return np.where(mask, np.zeros((), values.dtype), values)

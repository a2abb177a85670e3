"""Beam search."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keras import ops, tree

from kerasnmt.decoding.buffers import allocate, batch_major, clear, fill, read, reorder, write
from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.decoding.hypotheses import Hypotheses, SearchTree
from kerasnmt.decoding.penalties import coverage_penalty, length_penalty
from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.decoding.terms import TermAutomaton
from kerasnmt.speed.gather import take_rows
from kerasnmt.speed.top_k import top_k, top_sums


@dataclass(frozen=True)
class Beam:
    """Search that keeps the `options.beam_size` most probable sequences of each row at each step.

    A sequence that reaches the end token keeps its slot and its score; the open sequences use the
    other slots. A row is finished when it has `n_best` ended sequences that no open sequence can
    outrank. In all methods, `now` is the state of the loop.

    Args:
        step: See `search`, after `constrained`.
        options: Options with the beam size, the lengths and the penalties.
        end_id: See `search`.
        pad_id: See `search`.
        n_best: Number of sequences to return for each row.
        with_records: See `search`.
        with_tree: See `search`.
    """

    step: Callable
    options: SearchOptions
    end_id: int
    pad_id: int
    n_best: int
    with_records: bool
    with_tree: bool

    @property
    def covers(self) -> bool:
        """Whether there is a coverage penalty."""
        return self.options.coverage_penalty > 0

    def first(self, *arguments: Any) -> dict[str, Any]:
        """Compute the first step, and return the state of the loop after it; see `begin`."""
        now, outputs = self.begin(*arguments)
        # The buffer of parents starts with each slot as its own parent: after a row is finished,
        # its parents are no longer written, and its sequences keep their slots.
        length, ids = self.options.max_length, now["ids"]
        slots = ops.broadcast_to(ops.arange(self.options.beam_size, dtype="int32"), ops.shape(ids))
        padding = ops.full_like(ids, self.pad_id)
        buffers = (*fill((padding, slots), length), *allocate(outputs[2:], length))
        return {**now, "buffers": write(buffers, outputs, 0)}

    def begin(
        self,
        states: Any,
        memory: Any,
        start_ids: Any,
        max_lengths: Any,
        positions: Any,
        sampled_from: Any = None,
    ) -> tuple[dict[str, Any], tuple]:
        """Compute the first step, and return the state after it without buffers, and its outputs.

        Args:
            states: First states, a structure of tensors `[batch, ...]`.
            memory: Argument of every step, a structure of tensors `[batch, ...]`.
            start_ids: First tokens, int32 `[batch]`.
            max_lengths: Maximum number of tokens of each row's sequences, int32 `[batch, 1]`, at
                most `options.max_length`. A sequence of this length counts as ended.
            positions: Source positions that count for the coverage penalty, boolean
                `[batch, source_length]`.
            sampled_from: For samples only.
        """
        # The first step has one hypothesis.
        start = tree.map_structure(lambda one: ops.expand_dims(one, 1), (start_ids, states))
        log_probabilities, records, states = self.step(*start, memory)
        shape = (ops.shape(max_lengths)[0], self.options.beam_size)
        slots = ops.broadcast_to(ops.arange(self.options.beam_size, dtype="int32"), shape)
        scores, ids, parents = self.choose(
            ops.zeros_like(log_probabilities[..., 0]), log_probabilities, slots, states, memory
        )
        outputs = self._outputs(ids, parents, records if self.with_records else {}, scores)
        now = {
            "memory": memory,
            "max_lengths": max_lengths,
            "time": ops.convert_to_tensor(1, "int32"),
            "ids": ids,
            "scores": scores,
            "ended": ops.logical_or(ids == self.end_id, max_lengths <= 1),
            "lengths": ops.ones_like(ids),
            "states": reorder(states, parents),
        }
        if self.covers:
            now["attended"] = reorder(records["weights"], parents)
            now["positions"] = positions
        return now, outputs

    def unfinished(self, now: dict[str, Any]) -> Any:
        """Return whether each row needs another step, boolean `[batch]`."""
        ranks = self.ranks(now)
        reachable = ops.where(now["ended"], IMPOSSIBLE, self._reachable(now))
        # Keras needs an initial value if there are no rows.
        most = ops.max(reachable, axis=1, keepdims=True, initial=-float("inf"))
        certain = ops.logical_and(now["ended"], ranks >= most)
        wanting = ops.sum(ops.cast(certain, "int32"), axis=1) < self.n_best
        return ops.logical_and(now["time"] < self.options.max_length, wanting)

    def live(self, now: dict[str, Any]) -> Any:
        """Return which sequences the best one can be or begin with, boolean `[batch, beam_size]`.

        These are the best ended sequence, and the open sequences that can still reach its rank.
        """
        ended = now["ended"]
        ranks = ops.where(ended, self.ranks(now), IMPOSSIBLE)
        slots = ops.arange(self.options.beam_size, dtype="int32")
        is_best = ops.cast(ops.argmax(ranks, axis=1), "int32")[:, None] == slots
        best = ops.max(ranks, axis=1, keepdims=True, initial=-float("inf"))
        reaches = self._reachable(now) >= best
        possible = now["scores"] > IMPOSSIBLE / 2
        return ops.logical_and(possible, ops.where(ended, is_best, reaches))

    def _reachable(self, now: dict[str, Any]) -> Any:
        """Return the highest rank that each open sequence can reach.

        Log-probabilities only fall. So it ranks at most as high as with its present
        log-probability, the maximum length and a coverage penalty of 0.
        """
        return now["scores"] / self._divisor(now["max_lengths"])

    def advance(self, now: dict[str, Any]) -> dict[str, Any]:
        """Compute one step."""
        following, outputs = self.extend(now)
        return {**following, "buffers": write(now["buffers"], outputs, now["time"])}

    def extend(self, now: dict[str, Any]) -> tuple[dict[str, Any], tuple]:
        """Compute one step, and return the state after it without new buffers, and its outputs."""
        ended = now["ended"]
        log_probabilities, records, states = self.step(now["ids"], now["states"], now["memory"])
        # The best extension goes to the first open slot, the second best to the second, and so on.
        is_open = ops.cast(ops.logical_not(ended), "int32")
        wanted = ops.cumsum(is_open, axis=1) - is_open
        open_scores = ops.where(ended, IMPOSSIBLE, now["scores"])
        scores, ids, parents = self.choose(
            open_scores, log_probabilities, wanted, states, now["memory"]
        )
        scores = ops.where(ended, now["scores"], scores)
        ids = ops.where(ended, self.pad_id, ids)
        slots = ops.arange(self.options.beam_size, dtype="int32")
        parents = ops.where(ended, slots, parents)
        kept = clear(records if self.with_records else {}, ended)
        over = now["time"] + 1 >= now["max_lengths"]
        following = {
            **now,
            "time": now["time"] + 1,
            "ids": ids,
            "scores": scores,
            "ended": ops.logical_or(ended, ops.logical_or(ids == self.end_id, over)),
            "lengths": now["lengths"] + is_open,
            "states": reorder(states, parents),
        }
        if self.covers:
            attended = now["attended"] + clear(records["weights"], ended)
            following["attended"] = reorder(attended, parents)
        return following, self._outputs(ids, parents, kept, scores)

    def choose(
        self, scores: Any, log_probabilities: Any, wanted: Any, states: Any, memory: Any
    ) -> tuple[Any, Any, Any]:
        """Choose extensions of the hypotheses; see `best_extensions`.

        Args:
            scores: See `best_extensions`.
            log_probabilities: See `best_extensions`.
            wanted: See `best_extensions`.
            states: States after the step, `[batch, hypotheses, ...]`.
            memory: Argument of every step.
        """
        return best_extensions(scores, log_probabilities, wanted, self.pad_id)

    def best(self, last: dict[str, Any]) -> Hypotheses:
        """Return the sequences with the highest ranks, best first."""
        ranks, best = ops.top_k(self.ranks(last), self.n_best)
        best = ops.cast(best, "int32")
        ids, records = _trace_back(last["buffers"], best, last["time"])
        absent = ranks == IMPOSSIBLE
        lengths = ops.where(absent, 0, reorder(last["lengths"], best))
        written = ops.arange(self.options.max_length, dtype="int32") < lengths[..., None]
        return Hypotheses(ops.where(written, ids, self.pad_id), ranks, clear(records, absent))

    def tree(self, last: dict[str, Any]) -> SearchTree:
        """Return all sequences that were kept. The search must be `with_tree`."""
        ids, parents, _, scores = last["buffers"]
        return SearchTree(*batch_major((ids, parents, scores)))

    def _outputs(self, ids: Any, parents: Any, records: Any, scores: Any) -> tuple:
        """Return the parts of a step that are needed after the loop."""
        return ids, parents, reorder(records, parents), scores if self.with_tree else ()

    def _divisor(self, lengths: Any) -> Any:
        options = self.options
        return length_penalty(lengths, options.length_penalty, options.length_normalization)

    def ranks(self, now: dict[str, Any]) -> Any:
        """Return the rank of each sequence, float32 `[batch, hypotheses]`."""
        ranks = now["scores"] / self._divisor(now["lengths"])
        if self.covers:
            beta = self.options.coverage_penalty
            ranks = ranks + coverage_penalty(now["attended"], now["positions"], beta)
        return ops.where(now["scores"] <= IMPOSSIBLE / 2, IMPOSSIBLE, ranks)


@dataclass(frozen=True)
class TermBeam(Beam):
    """Beam search with terms, by dynamic beam allocation.

    The candidates of a step are the best extensions of all hypotheses, the best extension of each
    hypothesis, and its extensions by the next tokens of terms. Those that need the same number of
    tokens to meet the terms are a bank. The best candidates of all banks come first, those that
    need fewest tokens before others; then the second best of all banks, and so on.

    Source: Post and Vilar (2018), "Fast lexically constrained decoding with dynamic beam allocation
    for neural machine translation", section 3; Hu et al. (2019), "Improved lexically constrained
    decoding for translation and monolingual rewriting", section 3.2, for the order.
    """

    terms: TermAutomaton

    def choose(
        self, scores: Any, log_probabilities: Any, wanted: Any, states: Any, memory: Any
    ) -> tuple[Any, Any, Any]:
        """Choose extensions of the hypotheses; see `Beam.choose`."""
        known, tables = states[1]["terms"], memory[1]["terms"]
        rows, hypotheses, vocabulary = ops.shape(log_probabilities)
        ranks = ops.arange(wanted.shape[1], dtype="int32") + ops.zeros_like(wanted)
        overall = best_extensions(scores, log_probabilities, ranks, self.pad_id)
        best, ids = top_k(log_probabilities, 1)
        slots = ops.arange(hypotheses, dtype="int32")[:, None]
        tokens = tables["tokens"][:, None] + ops.zeros_like(ids)
        inside = ops.clip(tokens, 0, vocabulary - 1)
        gains = take_rows(log_probabilities, inside, axis=2)
        gains = ops.where(known["progress"], gains, IMPOSSIBLE)
        # Each candidate counts once: first as one of the best of all, then as the best of its own.
        gains = ops.where(ops.equal(tokens, ids), IMPOSSIBLE, gains)
        ids = ops.concatenate([ids, inside], axis=2)
        parents = slots + ops.zeros_like(ids)
        sums = scores[..., None] + ops.concatenate([best, gains], axis=2)
        kept = overall[2] * vocabulary + overall[1]
        kept = ops.where(overall[0] <= IMPOSSIBLE / 2, -1, kept)
        again = ops.equal((parents * vocabulary + ids)[..., None], kept[:, None, None])
        sums = ops.where(ops.any(again, axis=-1), IMPOSSIBLE, sums)
        others = (ops.reshape(one, (rows, -1)) for one in (sums, ids, parents))
        scores, ids, parents = (
            ops.concatenate(parts, axis=1) for parts in zip(overall, others, strict=True)
        )
        # By score; candidates of one score stay in their order.
        scores, order = ops.top_k(scores, ops.shape(scores)[1])
        ids, parents = (take_rows(one, ops.cast(order, "int32")) for one in (ids, parents))
        order = self._order(scores, ids, parents, known["needed"], tables["tokens"])
        _, order = ops.top_k(-order, wanted.shape[1])
        chosen = take_rows(ops.cast(order, "int32"), wanted)
        scores, ids, parents = (take_rows(one, chosen) for one in (scores, ids, parents))
        scores = ops.maximum(scores, IMPOSSIBLE)
        return scores, ops.where(scores <= IMPOSSIBLE / 2, self.pad_id, ids), parents

    def _order(self, scores: Any, ids: Any, parents: Any, needed: Any, tokens: Any) -> Any:
        """Return numbers that sort the candidates `[batch, candidates]`, int32.

        Args:
            scores: Log-probabilities of the candidates, in descending order.
            ids: Tokens of the candidates.
            parents: Hypotheses of the candidates.
            needed: Number of tokens that each choice of a hypothesis needs after it, int32
                `[batch, hypotheses, choices]`; see `TermAutomaton.choices`.
            tokens: Tokens of the terms, int32 `[batch, tokens]`.
        """
        impossible = scores <= IMPOSSIBLE / 2
        choices = ops.shape(needed)[-1]
        choice = parents * choices + self.terms.choice_of(ids, tokens)
        choice = ops.where(impossible, 0, choice)
        banks = take_rows(ops.reshape(needed, (ops.shape(ids)[0], -1)), choice)
        # Terms need at most as many tokens as they have, with the end token, and a few spaces.
        banks = ops.minimum(banks, choices - 1)
        member = ops.equal(banks[:, None], ops.arange(choices, dtype="int32")[:, None])
        member = ops.cast(member, "float32")
        places = ops.arange(ops.shape(ids)[1], dtype="int32")
        # A product is faster than a cumulative sum. Impossible candidates come last.
        before = ops.matmul(member, ops.cast(places[:, None] < places, "float32"))
        ranks = ops.cast(ops.sum(member * before, axis=1), "int32")
        return ops.where(impossible, 2**31 - 1, ranks * choices + banks)


def best_extensions(
    scores: Any, log_probabilities: Any, wanted: Any, pad_id: int
) -> tuple[Any, Any, Any]:
    """Choose the best extensions of all hypotheses.

    Args:
        scores: Log-probability of each sequence, `[batch, hypotheses]`.
        log_probabilities: Log-probability of each next token, `[batch, hypotheses, vocabulary]`.
        wanted: Ranks of the wanted extensions, int32 `[batch, beam_size]`; 0 is the best. A rank
            that does not exist gives an impossible extension.
        pad_id: Token of an impossible extension. With it, an impossible sequence never ends, so it
            does not keep its slot.

    Returns:
        The scores, ids and parents, `[batch, beam_size]` each.
    """
    scores, parents, ids = top_sums(scores, log_probabilities, wanted)
    scores = ops.maximum(scores, IMPOSSIBLE)
    return scores, ops.where(scores <= IMPOSSIBLE / 2, pad_id, ids), parents


def _trace_back(buffers: tuple, slots: Any, time: Any) -> tuple[Any, Any]:
    """Follow the parents of the wanted sequences from the last step to the first.

    Args:
        buffers: Ids, parents, records and scores of all steps, `[length, batch, hypotheses, ...]`
            each.
        slots: Slots of the wanted sequences after the last step, int32 `[batch, n_best]`.
        time: Number of computed steps.

    Returns:
        The ids and records, `[batch, n_best, length, ...]` each.
    """
    ids, parents, records, _ = buffers
    length = ids.shape[0]
    wanted = allocate(reorder(read((ids, records), 0), slots), length)

    def follow(time: Any, slots: Any, wanted: Any) -> tuple:
        values = reorder(read((ids, records), time), slots)
        return time - 1, reorder(read(parents, time), slots), write(wanted, values, time)

    *_, wanted = ops.while_loop(lambda time, *_: time >= 0, follow, (time - 1, slots, wanted))
    return batch_major(wanted)

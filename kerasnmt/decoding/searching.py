"""Search for the best outputs of a step function: greedy search, beam search or samples."""

from collections.abc import Callable
from typing import Any

from keras import ops

from kerasnmt.decoding.beam_search import Beam, TermBeam
from kerasnmt.decoding.constraints import constrained
from kerasnmt.decoding.greedy_search import GreedySearch
from kerasnmt.decoding.hypotheses import Hypotheses, SearchTree
from kerasnmt.decoding.paths import Paths
from kerasnmt.decoding.row_loop import row_loop
from kerasnmt.decoding.sampling import Sampling
from kerasnmt.decoding.search_options import SearchOptions
from kerasnmt.decoding.terms import TermAutomaton, Terms
from kerasnmt.sizes import check_integer


def search(
    step: Callable,
    states: Any,
    memory: Any,
    start_ids: Any,
    source_mask: Any,
    options: SearchOptions,
    *,
    end_id: int,
    pad_id: int = 0,
    never_ids: tuple[int, ...] = (),
    n_best: int = 1,
    prefix_ids: Any = None,
    terms: Terms | None = None,
    with_records: bool = True,
    with_tree: bool = False,
    sampled_from: Any = None,
) -> Hypotheses | tuple[Hypotheses, SearchTree]:
    """Find the best sequences of each row, in a graph on every backend.

    Rows are independent. The loop ends when every row is finished.

    Args:
        step: Function `step(ids, states, memory) -> (log_probabilities, records, states)`. The ids
            are int32 `[batch, hypotheses]`, the log-probabilities float32
            `[batch, hypotheses, vocabulary]`, and records and states are structures of tensors
            `[batch, hypotheses, ...]`. The first step has one hypothesis. Later steps have all
            hypotheses, and may have fewer rows. With a coverage penalty, the records must be a dict
            with `weights`, float32 `[batch, hypotheses, source_length]`.
        states: First states, a structure of tensors `[batch, ...]`. If they contain a
            `kerasnmt.layers.TimeCache`, it must be empty and have room for `options.max_length`
            steps. The search makes it smaller where the graph allows it.
        memory: Argument of every step, a structure of tensors `[batch, ...]`.
        start_ids: First tokens, int32 `[batch]`.
        source_mask: Boolean `[batch, source_length]`, True = real token, for the coverage penalty
            and for maximum lengths that depend on the source.
        options: Options of the search.
        end_id: Token that ends a sequence.
        pad_id: Token that fills a sequence after its end, and pads prefixes.
        never_ids: Tokens that no sequence contains.
        n_best: Number of sequences to return for each row, at most `options.hypotheses`.
        prefix_ids: Tokens with which each sequence must begin, int32 `[batch, prefix_length]`,
            right-padded. They are part of its score and length.
        terms: Terms that each sequence must contain, or must not. Without samples only. If those
            that a row must contain do not fit into its maximum length, it is searched without them.
        with_records: Whether to return the records.
        with_tree: Whether to return the tree of the beam search. Without samples only.
        sampled_from: Structure of tensors `[batch, ...]`, which determine the samples of each row
            together with the seed; see `row_keys`.

    Returns:
        `Hypotheses`, `n_best` for each row, best first. With `with_tree`, a pair of them and the
        `SearchTree`.

    Raises:
        ValueError: If `n_best` is not an integer or out of range, a tree of samples or samples with
            terms are wanted, or the caches in the states have room for different numbers of steps.
    """
    check_integer("n_best", n_best)
    if not 1 <= n_best <= options.hypotheses:
        raise ValueError(
            f"Expected n_best from 1 to the number of hypotheses, {options.hypotheses}. "
            f"Received: n_best={n_best}"
        )
    if with_tree and options.samples:
        raise ValueError(
            "Expected samples=0 with with_tree=True, because samples have no tree. Received: "
            f"samples={options.samples}"
        )
    if terms is not None and options.samples:
        raise ValueError(
            "Expected samples=0 with terms, because samples are drawn, not searched. Received: "
            f"samples={options.samples}"
        )
    automaton = None if terms is None else TermAutomaton(terms, end_id, pad_id)
    max_lengths = options.max_lengths(ops.sum(ops.cast(source_mask, "int32"), axis=1))
    step, states, memory = constrained(
        step,
        states,
        memory,
        ops.shape(start_ids)[0],
        options,
        end_id=end_id,
        pad_id=pad_id,
        never_ids=never_ids,
        prefix_ids=prefix_ids,
        terms=automaton,
        max_lengths=max_lengths,
    )
    one = searcher(step, options, end_id, pad_id, n_best, with_records, with_tree, automaton)
    first = one.first(states, memory, start_ids, max_lengths[:, None], source_mask, sampled_from)
    last = row_loop(one.unfinished, one.advance, first)
    if isinstance(one, Beam) and with_tree:
        return one.best(last), one.tree(last)
    return one.best(last)


def searcher(
    step: Callable,
    options: SearchOptions,
    end_id: int,
    pad_id: int,
    n_best: int,
    with_records: bool,
    with_tree: bool,
    terms: TermAutomaton | None = None,
) -> Beam | Paths:
    """Return the search that the options ask for; see `search` for the arguments."""
    if options.samples:
        return Sampling(step, options, end_id, pad_id, n_best, with_records)
    beam = (step, options, end_id, pad_id, n_best, with_records, with_tree)
    if terms is not None:  # one hypothesis is a beam too: its candidates include tokens of terms
        return TermBeam(*beam, terms)
    if options.beam_size == 1 and not options.coverage_penalty and not with_tree:
        return GreedySearch(step, options, end_id, pad_id, n_best, with_records)
    return Beam(*beam)

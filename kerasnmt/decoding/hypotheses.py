"""Results of a search."""

from typing import Any, NamedTuple


class Hypotheses(NamedTuple):
    """Sequences found by a search, best first.

    Attributes:
        ids: Int32 `[batch, hypotheses, max_length]`, without the start token. The end token is
            included if it was reached; the rest is padding.
        scores: Score by which the sequences are ranked, float32 `[batch, hypotheses]`: the
            log-probability divided by the length penalty, plus the coverage penalty. A missing
            sequence has -1e9.
        records: Records of the step function, in the same structure, with tensors
            `[batch, hypotheses, max_length, ...]`, zeros after the end.
    """

    ids: Any
    scores: Any
    records: Any


class SearchTree(NamedTuple):
    """All sequences that a beam search kept at each step, including those that it dropped later.

    Slot k of step t holds a token. The sequence of this token is the one in slot `parents` of
    step t - 1, extended by the token. A sequence that has ended keeps its slot: it is its own
    parent, and its further tokens are padding.

    Attributes:
        ids: Token of each slot, int32 `[batch, beam_size, max_length]`, 0 for an empty slot.
        parents: Slot of the parent in the step before, int32 `[batch, beam_size, max_length]`;
            in the first step, 0.
        log_probabilities: Log-probability of the sequence up to the token, float32
            `[batch, beam_size, max_length]`.
    """

    ids: Any
    parents: Any
    log_probabilities: Any


class StepOutputs(NamedTuple):
    """What a step tells about the hypotheses of each row.

    Attributes:
        ids: Token that each hypothesis got, int32 `[batch, hypotheses]`, or padding after its end.
        parents: Hypothesis of the step before that it extends, int32 `[batch, hypotheses]`.
        live: Whether the best sequence of the search can be this one, or one that begins with it,
            boolean `[batch, hypotheses]`.
        ended: Whether it has ended, boolean `[batch, hypotheses]`.
        ranks: Its rank, float32 `[batch, hypotheses]`. After the last step, the best sequence has
            the highest rank, which is its score. An impossible sequence has -1e9.
        unfinished: Whether the search goes on, boolean `[batch]`.
        records: Records of the step, `[batch, hypotheses, ...]` each.
    """

    ids: Any
    parents: Any
    live: Any
    ended: Any
    ranks: Any
    unfinished: Any
    records: Any

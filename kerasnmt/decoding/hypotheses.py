"""Result of a search."""

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

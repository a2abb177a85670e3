"""The result of a search."""

from typing import Any, NamedTuple


class Hypotheses(NamedTuple):
    """Sequences found by a search, best first.

    Attributes:
        ids: Int32 `[batch, hypotheses, max_length]`, without the start token. The end token is
            included if it was reached; the rest is padding.
        scores: Rank of each sequence, float32 `[batch, hypotheses]`: its log-probability divided by
            the length penalty, plus the coverage penalty; -1e9 for a missing sequence.
        records: Records of the step function, in the same structure, each tensor
            `[batch, hypotheses, max_length, ...]`, zeros after the end.
    """

    ids: Any
    scores: Any
    records: Any

"""What a search returns."""

from typing import Any, NamedTuple


class Hypotheses(NamedTuple):
    """The sequences that a search found, best first.

    Attributes:
        ids: Int32 `[batch, hypotheses, max_length]`, without the start token; the end token is
            included where it was reached, the rest is padding.
        scores: Float32 `[batch, hypotheses]`: log-probability divided by the length penalty;
            -1e9 where there are fewer sequences than hypotheses.
        records: What the step function recorded, the same structure, each tensor
            `[batch, hypotheses, max_length, ...]`, zeros after the end.
    """

    ids: Any
    scores: Any
    records: Any

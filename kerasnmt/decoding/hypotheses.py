"""What a search returns."""

from typing import Any, NamedTuple


class Hypotheses(NamedTuple):
    """The sequences that a search found, best first.

    Attributes:
        ids: int32 `[batch, hypotheses, max_length]`, without the start token; the end token is
            included where it was reached, the rest is padding.
        scores: float32 `[batch, hypotheses]`: log-probability divided by the length penalty;
            -1e9 where there are fewer sequences than hypotheses.
        records: what the step function recorded, the same structure, each tensor
            `[batch, hypotheses, max_length, ...]`, zeros after the end.
    """

    ids: Any
    scores: Any
    records: Any

"""Alignment error rate."""

from collections.abc import Iterable, Sequence

Links = Sequence[Iterable[tuple[int, int]]]


def alignment_error_rate(predicted: Links, sure: Links, possible: Links | None = None) -> float:
    """Return the alignment error rate of a corpus with respect to a reference.

        AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

    A are the predicted links, S are the sure links, and P are the possible links, which include S.
    The counts are summed over all sentences.

    Source: Och and Ney (2003), "A systematic comparison of various statistical alignment models".

    Args:
        predicted: Predicted links (source word, target word) of each sentence.
        sure: Sure links of each sentence in the reference.
        possible: Other possible links of each sentence in the reference, or None if there are only
            sure links.

    Returns:
        The error rate, a float from 0 (best) to 1.

    Raises:
        ValueError: If the numbers of sentences differ, or there are no links.
    """
    possible = [()] * len(sure) if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            "Expected predicted, sure and possible links of the same number of sentences. "
            f"Received: len(predicted)={len(predicted)}, len(sure)={len(sure)}, "
            f"len(possible)={len(possible)}"
        )
    agreed = counted = 0
    for a, s, p in zip(map(set, predicted), map(set, sure), map(set, possible), strict=True):
        agreed += len(a & s) + len(a & (s | p))
        counted += len(a) + len(s)
    if not counted:
        raise ValueError(
            "Expected at least one predicted or sure link. "
            f"Received: {len(sure)} sentences without links"
        )
    return 1 - agreed / counted

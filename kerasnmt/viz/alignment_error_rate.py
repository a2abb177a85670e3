"""Alignment error rate."""

from collections.abc import Iterable, Sequence

Links = Sequence[Iterable[tuple[int, int]]]


def alignment_error_rate(predicted: Links, sure: Links, possible: Links | None = None) -> float:
    """Return the alignment error rate of a corpus against a reference.

        AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

    for the predicted links A, the sure links S and the possible links P, which include S. The
    counts are summed over all sentences.

    Source: Och and Ney (2003), "A systematic comparison of various statistical alignment models".

    Args:
        predicted: Predicted links (source word, target word) of each sentence.
        sure: Sure links of each sentence in the reference.
        possible: Further possible links of each sentence in the reference, or None for only the
            sure ones.

    Returns:
        A float from 0 (best) to 1.

    Raises:
        ValueError: If the numbers of sentences differ, or there are no links.
    """
    possible = [()] * len(sure) if possible is None else possible
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            f"alignment_error_rate expects the same number of sentences throughout. Received: "
            f"len(predicted)={len(predicted)}, len(sure)={len(sure)}, "
            f"len(possible)={len(possible)}"
        )
    agreed = counted = 0
    for a, s, p in zip(map(set, predicted), map(set, sure), map(set, possible), strict=True):
        agreed += len(a & s) + len(a & (s | p))
        counted += len(a) + len(s)
    if not counted:
        raise ValueError(
            f"alignment_error_rate expects at least one predicted or sure link. Received: "
            f"{len(sure)} sentences without any"
        )
    return 1 - agreed / counted

"""Alignment error rate."""

from collections.abc import Iterable, Sequence

Links = Sequence[Iterable[tuple[int, int]]]


def alignment_error_rate(predicted: Links, sure: Links, possible: Links | None = None) -> float:
    """Scores word alignments against a reference, over a whole corpus.

    With A predicted, S sure and P possible links, S counted as possible too,
    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), in which the counts are summed over sentences
    (Och and Ney, 2003, "A Systematic Comparison of Various Statistical Alignment Models").

    Args:
        predicted: For each sentence its links (source word, target word).
        sure: Likewise, the links that the reference is sure of.
        possible: Likewise, the links that the reference allows; none beyond the sure ones when
            left out.

    Returns:
        0 (best) to 1.

    Raises:
        ValueError: If the numbers of sentences differ, or there is no link to count.
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

"""From attention between pieces to links between words."""

from collections.abc import Sequence

import numpy as np


def word_alignment(
    weights: np.ndarray,
    source_word_indices: Sequence[int],
    target_word_indices: Sequence[int],
) -> list[tuple[int, int]]:
    """Links each target word with the source word that it attends to most.

    Pieces are merged to words first: a target word attends as its pieces do on average, and a
    source word receives what its pieces receive together.

    Args:
        weights: Float `[target_length, source_length]`, the attention between tokens.
        source_word_indices: For each source token the 0-based index of its word; -1 leaves the
            token out (end token, padding, bare space).
        target_word_indices: Likewise for each target token.

    Returns:
        0-based links (source word, target word), at most one for each target word, ordered by
        target word; the first source word wins a tie. A target word with no weight on any source
        word has no link.

    Raises:
        ValueError: If the shape of `weights` is not that of the indices.
    """
    weights = np.asarray(weights, "float64")
    source, target = np.asarray(source_word_indices, int), np.asarray(target_word_indices, int)
    if weights.shape != (len(target), len(source)):
        raise ValueError(
            f"word_alignment expects weights of shape [target tokens, source tokens], here "
            f"{(len(target), len(source))}. Received: weights.shape={weights.shape}"
        )
    links = []
    for word in np.unique(target[target >= 0]):
        attention = weights[target == word].mean(axis=0)
        received = np.bincount(source[source >= 0], weights=attention[source >= 0])
        if received.any():
            links.append((int(received.argmax()), int(word)))
    return links

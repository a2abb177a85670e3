"""Word alignments from the attention between tokens."""

from collections.abc import Sequence

import numpy as np


def word_alignment(
    weights: np.ndarray,
    source_word_indices: Sequence[int],
    target_word_indices: Sequence[int],
) -> list[tuple[int, int]]:
    """Link each target word to the source word that it attends to most.

    Pieces are merged into words first: the weights of a target word are the mean over its pieces,
    and the weight of a source word is the sum over its pieces.

    Args:
        weights: Attention weights of tokens, float `[target_length, source_length]`.
        source_word_indices: Index of the word of each source token, counted from 0, or -1 for
            tokens that are not used, such as the end token, padding and single spaces.
        target_word_indices: Index of the word of each target token, counted from 0, or -1.

    Returns:
        Links (source word, target word), counted from 0, at most one for each target word, sorted
        by target word. The first source word wins a tie. A target word without weight on any source
        word has no link.

    Raises:
        ValueError: If the shape of `weights` does not match the indices.
    """
    weights = np.asarray(weights, "float64")
    source, target = np.asarray(source_word_indices, int), np.asarray(target_word_indices, int)
    if weights.shape != (len(target), len(source)):
        raise ValueError(
            "Expected weights of shape [target tokens, source tokens], here "
            f"{(len(target), len(source))}. Received: weights.shape={weights.shape}"
        )
    links = []
    for word in np.unique(target[target >= 0]):
        attention = weights[target == word].mean(axis=0)
        received = np.bincount(source[source >= 0], weights=attention[source >= 0])
        if received.any():
            links.append((int(received.argmax()), int(word)))
    return links

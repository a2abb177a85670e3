"""Attention of the hops of a memory network."""

from collections.abc import Collection, Sequence

import numpy as np
from matplotlib.figure import Figure

from kerasnmt.viz.attention_figure import attention_figure


def memory_figure(
    weights: np.ndarray,
    sentences: Sequence[str],
    title: str | None = None,
    *,
    supporting: Collection[int] = (),
) -> Figure:
    """Draw the attention of a memory network, with one row per sentence and one column per hop.

    Args:
        weights: Attention weights of one story, float `[hops, sentences]`, such as
            `model.attend(inputs)[0, :, :len(sentences)]`. The colors span 0 to 1.
        sentences: Labels of the rows, oldest first.
        title: Title of the figure, such as the question and its answer.
        supporting: Indices of the sentences that support the answer, counted from 0. A triangle
            marks them.

    Returns:
        A Matplotlib figure; see `attention_figure`.

    Raises:
        ValueError: If the shape of `weights` does not match the sentences, there are no sentences,
            or `supporting` has an index out of range.
    """
    weights = np.asarray(weights, "float32")
    if weights.ndim != 2 or weights.shape[1] != len(sentences) or not weights.size:
        raise ValueError(
            "Expected weights of shape [hops, sentences], at least one of each, here "
            f"{len(sentences)} sentences. Received: weights.shape={weights.shape}"
        )
    if absent := [index for index in supporting if not 0 <= index < len(sentences)]:
        raise ValueError(
            f"Expected supporting sentences from 0 to {len(sentences) - 1}. Received: {absent[0]}"
        )
    rows = [
        f"▸ {sentence}" if index in supporting else sentence
        for index, sentence in enumerate(sentences)
    ]
    hops = [f"hop {number}" for number in range(1, len(weights) + 1)]
    return attention_figure(
        weights.T, hops, rows, title, source_label="hop", target_label="sentence"
    )

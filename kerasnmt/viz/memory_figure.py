"""The attention of the hops of a memory network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kerasnmt.viz.attention_figure import attention_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def memory_figure(
    weights: np.ndarray,
    sentences: Sequence[str],
    title: str | None = None,
    *,
    supporting: Collection[int] = (),
) -> Figure:
    """Draw the attention of a memory network: a row for each sentence, a column for each hop.

    Args:
        weights: Float `[hops, sentences]`, of one story, such as
            `model.attend(inputs)[0, :, :len(sentences)]`; colours span 0 to 1.
        sentences: Labels of the rows, oldest first.
        title: Title above all, such as the question and its answer.
        supporting: Numbers, from 0, of the sentences that the answer follows from; a triangle marks
            them.

    Returns:
        A figure, see `attention_figure`.

    Raises:
        ValueError: If the shape of `weights` does not match the sentences, there are none, or
            `supporting` has a number that is out of range.
    """
    weights = np.asarray(weights, "float32")
    if weights.ndim != 2 or weights.shape[1] != len(sentences) or not weights.size:
        raise ValueError(
            "memory_figure expects weights of shape [hops, sentences], at least one of each: here "
            f"{len(sentences)} sentences. Received: weights.shape={weights.shape}"
        )
    if absent := [place for place in supporting if not 0 <= place < len(sentences)]:
        raise ValueError(
            f"memory_figure expects supporting sentences from 0 to {len(sentences) - 1}. "
            f"Received: {absent[0]}"
        )
    rows = [
        f"▸ {sentence}" if place in supporting else sentence
        for place, sentence in enumerate(sentences)
    ]
    hops = [f"hop {number}" for number in range(1, len(weights) + 1)]
    return attention_figure(
        weights.T, hops, rows, title, source_label="hop", target_label="sentence"
    )

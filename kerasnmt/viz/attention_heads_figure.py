"""Attention of every head of every layer, as a grid of heat maps."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kerasnmt.viz.directions import is_right_to_left
from kerasnmt.viz.heat_maps import INK, drawn, fit_to_labels, heat_map, text_style, write_columns

# Sizes in inches.
_CELL, _GAP, _MARGIN = 0.2, 0.3, 0.15


def attention_heads_figure(
    weights: np.ndarray,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
) -> Figure:
    """Draw a heat map for each head of each layer, with one row per layer.

    Each map has one row per target token and one column per source token. The tokens are written
    once, at the top and on the left of the grid.

    Args:
        weights: Attention weights, float `[layers, heads, target_length, source_length]`, such as
            one sentence from `model.attend_by_head`. The colors span 0 to 1.
        source_tokens: Labels of the columns.
        target_tokens: Labels of the rows.
        title: Title of the figure.

    Returns:
        A Matplotlib figure; see `attention_figure`.

    Raises:
        ValueError: If the shape of `weights` does not match the tokens, or one of them is empty.
    """
    weights = np.asarray(weights, "float32")
    tokens = len(target_tokens), len(source_tokens)
    if weights.ndim != 4 or weights.shape[2:] != tokens or not weights.size:
        raise ValueError(
            "Expected weights of shape [layers, heads, target tokens, source tokens], at least one "
            f"of each, here (…, {tokens[0]}, {tokens[1]}). "
            f"Received: weights.shape={weights.shape}"
        )
    source_tokens, target_tokens = drawn(source_tokens), drawn(target_tokens)
    if is_right_to_left(source_tokens):
        weights, source_tokens = weights[..., ::-1], source_tokens[::-1]
    layers, heads, rows, columns = weights.shape
    figure = Figure(dpi=150)
    grid = [[figure.add_axes((0, 0, 1, 1)) for _ in range(heads)] for _ in range(layers)]
    for layer, head in np.ndindex(layers, heads):
        _draw_head(grid[layer][head], weights[layer, head], f"layer {layer + 1}, head {head + 1}")
    style = text_style(*source_tokens, *target_tokens, title)
    for axes in grid[0]:
        write_columns(axes, range(columns), source_tokens, 7, style)
        axes.tick_params(length=0, pad=4)
    for line in grid:
        line[0].set_yticks(range(rows), target_tokens, fontsize=7, **style)
    if title:
        grid[0][0].set_title(title, loc="left", fontsize=13, pad=12, **style)
    width, height = columns * _CELL, rows * _CELL
    boxes = {
        axes: (head * (width + _GAP), (layers - 1 - layer) * (height + _GAP), width, height)
        for layer, line in enumerate(grid)
        for head, axes in enumerate(line)
    }
    fit_to_labels(figure, boxes, _MARGIN)
    return figure


def _draw_head(axes: Axes, weights: np.ndarray, label: str) -> None:
    heat_map(axes, weights)
    axes.set_xlabel(label, fontsize=8, color=INK)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0, pad=4)

"""The attention of every head of every layer, as a grid of heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kerasnmt.viz.attention_figure import COLOURS, INK
from kerasnmt.viz.fonts import font_families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In inches.
_CELL, _GAP, _MARGIN = 0.2, 0.3, 0.15


def attention_heads_figure(
    weights: np.ndarray,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
) -> Figure:
    """Draws a heat map for each head of each layer: layers from the top down, heads side by side.

    In each map there is a row for each target token and a column for each source token; the tokens
    are written once, along the top and the left of the grid.

    Args:
        weights: float `[layers, heads, target_length, source_length]`, such as one sentence of what
            `model.attend_by_head` returns; colours span 0 to 1.
        source_tokens: written along the top.
        target_tokens: written down the side.
        title: written above all.

    Returns:
        A figure of its own, outside pyplot's global state: `figure.savefig(path)` writes it.

    Raises:
        ValueError: the shape of `weights` is not that of the tokens, or something is empty.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    weights = np.asarray(weights, "float32")
    tokens = len(target_tokens), len(source_tokens)
    if weights.ndim != 4 or weights.shape[2:] != tokens or not weights.size:
        raise ValueError(
            "attention_heads_figure expects weights of shape [layers, heads, target tokens, source "
            f"tokens], at least one of each: here (…, {tokens[0]}, {tokens[1]}). "
            f"Received: weights.shape={weights.shape}"
        )
    layers, heads, rows, columns = weights.shape
    width, height = columns * _CELL, rows * _CELL
    text = {
        "color": INK,
        "fontfamily": font_families([*source_tokens, *target_tokens, title or ""]),
        "parse_math": False,
    }
    colours = LinearSegmentedColormap.from_list("attention", COLOURS)
    figure = Figure(dpi=150)
    grid = [[figure.add_axes((0, 0, 1, 1)) for _ in range(heads)] for _ in range(layers)]
    for layer, line in enumerate(grid):
        for head, axes in enumerate(line):
            axes.imshow(
                weights[layer, head],
                **{"cmap": colours, "vmin": 0, "vmax": 1},
                **{"aspect": "auto", "interpolation": "nearest"},
            )
            axes.set_xlabel(f"layer {layer + 1}, head {head + 1}", fontsize=8, color=INK)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.tick_params(length=0, pad=4)
            axes.spines[:].set_visible(False)
    for axes in grid[0]:
        axes.xaxis.tick_top()
        slant = {"rotation": 45, "rotation_mode": "anchor", "ha": "left", "va": "baseline"}
        axes.set_xticks(range(columns), source_tokens, fontsize=7, **slant, **text)
        axes.tick_params(length=0, pad=4)
    for line in grid:
        line[0].set_yticks(range(rows), target_tokens, fontsize=7, **text)
    if title:
        grid[0][0].set_title(title, loc="left", fontsize=13, pad=12, **text)

    def place(figure_width: float, figure_height: float, left: float, bottom: float) -> None:
        """Sizes the figure and puts the lower left corner of the grid where told."""
        figure.set_size_inches(figure_width, figure_height)
        scale = np.array([figure_width, figure_height] * 2)
        for layer, line in enumerate(grid):
            for head, axes in enumerate(line):
                x = left + head * (width + _GAP)
                y = bottom + (layers - 1 - layer) * (height + _GAP)
                axes.set_position(np.array([x, y, width, height]) / scale)

    # Labels are measured once beside the grid at the origin, then everything gets its room.
    place(heads * (width + _GAP), layers * (height + _GAP), 0, 0)
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    place(box.width + 2 * _MARGIN, box.height + 2 * _MARGIN, _MARGIN - box.x0, _MARGIN - box.y0)
    return figure

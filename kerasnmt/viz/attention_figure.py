"""The attention of one translation as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kerasnmt.viz.fonts import font_families

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# All sizes in inches, so that a label has the same room beside any number of tokens.
_LARGEST_CELL, _SMALLEST_CELL = 0.46, 0.26
_FEW_TOKENS_WIDTH = 6.0
_BAR_WIDTH, _BAR_GAP = 0.12, 0.18
_COLUMN_GAP = 0.14
_SHORTEST_BAR, _LONGEST_BAR = 0.9, 3.0
_COVERAGE_HEIGHT, _COVERAGE_GAP = 0.6, 0.12
_MARGIN = 0.15
COLOURS = ("#f1f4f9", "#b7d3ea", "#5b9fd0", "#1f66a8", "#0a2f5e")
INK = "#1f2933"


def attention_figure(
    weights: np.ndarray,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
    *,
    generate_probability: Sequence[float] | None = None,
    coverage: Sequence[float] | None = None,
    source_label: str = "source",
    target_label: str = "translation",
) -> Figure:
    """Draws attention weights: a row for each target token, a column for each source token.

    The figure grows with the numbers of tokens and with their lengths, so that labels neither
    overlap nor are cut off.

    Args:
        weights: float `[target_length, source_length]`; colours span 0 to 1.
        source_tokens: written along the top.
        target_tokens: written down the side.
        title: written above all.
        generate_probability: of a pointer-generator, p_gen of each target token, float
            `[target_length]`; drawn as a column of its own to the right, in the same colours.
        coverage: how much each source token was attended to in all, such as
            `weights.sum(axis=0)`, float `[source_length]`; drawn as bars below, with a line at 1,
            which is what a word has that one target word comes from.
        source_label: the name of the horizontal axis.
        target_label: the name of the vertical axis.

    Returns:
        A figure of its own, outside pyplot's global state: `figure.savefig(path)` writes it.

    Raises:
        ValueError: the shape of `weights`, `generate_probability` or `coverage` is not that of the
            tokens, or there are no tokens.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    weights = np.asarray(weights, "float32")
    rows, columns = len(target_tokens), len(source_tokens)
    if weights.shape != (rows, columns) or not weights.size:
        raise ValueError(
            f"attention_figure expects weights of shape [target tokens, source tokens], at least "
            f"one of each: here {(rows, columns)}. Received: weights.shape={weights.shape}"
        )
    cell = np.clip(_FEW_TOKENS_WIDTH / max(rows, columns), _SMALLEST_CELL, _LARGEST_CELL)
    # The columns' labels, and where they stand, in cells.
    labels, places = list(source_tokens), list(range(columns))
    if generate_probability is not None:
        probability = np.asarray(generate_probability, "float32")
        if probability.shape != (rows,):
            raise ValueError(
                "attention_figure expects a generate_probability for each target token: here "
                f"{rows}. Received: generate_probability.shape={probability.shape}"
            )
        labels.append("p_gen")
        places.append(columns + _COLUMN_GAP / cell)
    if coverage is not None:
        coverage = np.asarray(coverage, "float32")
        if coverage.shape != (columns,):
            raise ValueError(
                "attention_figure expects a coverage for each source token: here "
                f"{columns}. Received: coverage.shape={coverage.shape}"
            )
    width, height = (places[-1] + 1) * cell, rows * cell
    bar_height = np.clip(height, _SHORTEST_BAR, _LONGEST_BAR)
    # Characters are shown as they are: a dollar sign starts no formula.
    text = {
        "color": INK,
        "fontfamily": font_families([*source_tokens, *target_tokens, title or ""]),
        "parse_math": False,
    }

    figure = Figure(figsize=(width, height), dpi=150)
    axes = figure.add_axes((0, 0, 1, 1))
    options = {
        "cmap": LinearSegmentedColormap.from_list("attention", COLOURS),
        "vmin": 0,
        "vmax": 1,
        "aspect": "auto",
        "interpolation": "nearest",
    }
    image = axes.imshow(weights, **options)
    if generate_probability is not None:
        extent = (places[-1] - 0.5, places[-1] + 0.5, rows - 0.5, -0.5)
        axes.imshow(probability[:, None], extent=extent, **options)
        axes.set_xlim(-0.5, places[-1] + 0.5)
    axes.xaxis.tick_top()
    axes.set_xticks(
        places,
        labels,
        rotation=45,
        rotation_mode="anchor",
        ha="left",
        va="baseline",
        fontsize=10,
        **text,
    )
    axes.set_yticks(range(rows), target_tokens, fontsize=10, **text)
    axes.set_xticks(np.arange(1, columns) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, rows) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0, pad=6)
    axes.spines[:].set_visible(False)
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(source_label, fontsize=9, color=INK, loc="left")
    axes.set_ylabel(target_label, fontsize=9, color=INK, loc="top")
    if title:
        axes.set_title(title, loc="left", fontsize=13, pad=12, **text)

    if coverage is not None:
        coverage_axes = figure.add_axes((0, 0, 1, 1))
        coverage_axes.set_xlim(axes.get_xlim())
        _draw_coverage(coverage_axes, coverage)

    bar_axes = figure.add_axes((0, 0, 1, 1))
    bar = figure.colorbar(image, cax=bar_axes, ticks=(0, 0.5, 1))
    bar.outline.set_visible(False)
    scale_of = "weight" if generate_probability is None else "weight, p_gen"
    bar.set_label(scale_of, color=INK, fontsize=9)
    bar_axes.tick_params(length=0, labelsize=9, labelcolor=INK)

    def place(figure_width: float, figure_height: float, left: float, bottom: float) -> None:
        """Sizes the figure and puts the lower left corner of the heat map where told."""
        figure.set_size_inches(figure_width, figure_height)
        scale = np.array([figure_width, figure_height] * 2)
        axes.set_position(np.array([left, bottom, width, height]) / scale)
        if coverage is not None:
            below = bottom - _COVERAGE_GAP - _COVERAGE_HEIGHT
            coverage_axes.set_position(np.array([left, below, width, _COVERAGE_HEIGHT]) / scale)
        bar_left, bar_bottom = left + width + _BAR_GAP, bottom + height - bar_height
        bar_axes.set_position(np.array([bar_left, bar_bottom, _BAR_WIDTH, bar_height]) / scale)

    # Labels are measured once beside the heat map at the origin, then everything gets its room.
    place(width, height, 0, 0)
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    place(box.width + 2 * _MARGIN, box.height + 2 * _MARGIN, _MARGIN - box.x0, _MARGIN - box.y0)
    return figure


def _draw_coverage(axes: Axes, coverage: np.ndarray) -> None:
    """Draws a bar for each source token, and a line at 1."""
    top = max(1.0, float(coverage.max()))
    axes.bar(range(len(coverage)), coverage, width=0.8, color=COLOURS[2])
    axes.axhline(1, color=INK, linewidth=0.6)
    axes.set_ylim(0, 1.08 * top)
    axes.set_xticks([])
    axes.set_yticks([0, int(top)], ["0", str(int(top))], fontsize=8, color=INK)
    axes.set_xlabel("coverage", fontsize=9, color=INK, loc="left")
    axes.tick_params(length=0, pad=6)
    axes.spines[["top", "right", "left"]].set_visible(False)

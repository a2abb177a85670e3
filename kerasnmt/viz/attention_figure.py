"""Attention of one translation as a heat map."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from kerasnmt.viz.directions import is_right_to_left
from kerasnmt.viz.heat_maps import (
    COLOURS,
    INK,
    drawn,
    fit_to_labels,
    heat_map,
    text_style,
    write_columns,
)

# All sizes are in inches, so that labels have the same room for any number of tokens.
_LARGEST_CELL, _SMALLEST_CELL = 0.46, 0.26
_FEW_TOKENS_WIDTH = 6.0
_BAR_WIDTH, _BAR_GAP = 0.12, 0.18
_COLUMN_GAP = 0.14
_SHORTEST_BAR, _LONGEST_BAR = 0.9, 3.0
_COVERAGE_HEIGHT, _COVERAGE_GAP = 0.6, 0.12
_MARGIN = 0.15


def attention_figure(
    weights: np.ndarray,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
    *,
    generate_probability: Sequence[float] | np.ndarray | None = None,
    coverage: Sequence[float] | np.ndarray | None = None,
    source_label: str = "source",
    target_label: str = "translation",
) -> Figure:
    """Draw attention weights, with one row per target token and one column per source token.

    The figure grows with the number and the length of the tokens. So labels do not overlap, and
    they are complete. If the source is written from right to left, its columns are as well.
    Matplotlib joins Arabic letters, and orders letters from right to left, from version 3.11.

    Args:
        weights: Attention weights, float `[target_length, source_length]`. The colors span 0 to 1.
        source_tokens: Labels of the columns.
        target_tokens: Labels of the rows.
        title: Title of the figure.
        generate_probability: Probability p_gen of each target token for a pointer-generator, float
            `[target_length]`, or None. It is drawn as another column on the right, in the same
            colors.
        coverage: Total attention to each source token, such as `weights.sum(axis=0)`, float
            `[source_length]`, or None. It is drawn as bars below, with a line at 1, the coverage of
            a source word that corresponds to one target word.
        source_label: Name of the horizontal axis.
        target_label: Name of the vertical axis.

    Returns:
        A Matplotlib figure, which is not in the global state of pyplot. `figure.savefig(path)`
        writes it.

    Raises:
        ValueError: If the shape of `weights`, `generate_probability` or `coverage` does not match
            the tokens, or there are no tokens.
    """
    weights = np.asarray(weights, "float32")
    rows, columns = len(target_tokens), len(source_tokens)
    if weights.shape != (rows, columns) or not weights.size:
        raise ValueError(
            "Expected weights of shape [target tokens, source tokens], at least one of each, here "
            f"{(rows, columns)}. Received: weights.shape={weights.shape}"
        )
    probability = _of_tokens("generate_probability", generate_probability, "target", rows)
    covered = _of_tokens("coverage", coverage, "source", columns)
    source_tokens, target_tokens = drawn(source_tokens), drawn(target_tokens)
    if right_to_left := is_right_to_left(source_tokens):
        weights, source_tokens = weights[:, ::-1], source_tokens[::-1]
        covered = None if covered is None else covered[::-1]
    cell = np.clip(_FEW_TOKENS_WIDTH / max(rows, columns), _SMALLEST_CELL, _LARGEST_CELL)
    # The labels of the columns, and their positions in cells.
    labels, positions = list(source_tokens), list(range(columns))
    if probability is not None:
        labels.append("p_gen")
        positions.append(columns + _COLUMN_GAP / cell)
    width, height = (positions[-1] + 1) * cell, rows * cell

    figure = Figure(dpi=150)
    axes = figure.add_axes((0, 0, 1, 1))
    boxes: dict[Axes, tuple[float, ...]] = {axes: (0, 0, width, height)}
    image = heat_map(axes, weights)
    if probability is not None:
        _draw_probability(axes, probability, positions[-1])
    style = text_style(*source_tokens, *target_tokens, title)
    write_columns(axes, positions, labels, 10, style)
    axes.set_yticks(range(rows), target_tokens, fontsize=10, **style)
    _draw_grid(axes, rows, columns)
    _name_axes(axes, source_label, target_label, "right" if right_to_left else "left")
    if title:
        axes.set_title(title, loc="left", fontsize=13, pad=12, **style)
    if covered is not None:
        below = figure.add_axes((0, 0, 1, 1))
        below.set_xlim(axes.get_xlim())
        _draw_coverage(below, covered)
        boxes[below] = (0, -_COVERAGE_GAP - _COVERAGE_HEIGHT, width, _COVERAGE_HEIGHT)
    bar = figure.add_axes((0, 0, 1, 1))
    _draw_bar(bar, image, "weight" if probability is None else "weight, p_gen")
    bar_height = np.clip(height, _SHORTEST_BAR, _LONGEST_BAR)
    boxes[bar] = (width + _BAR_GAP, height - bar_height, _BAR_WIDTH, bar_height)
    fit_to_labels(figure, boxes, _MARGIN)
    return figure


def _of_tokens(
    name: str, values: Sequence[float] | np.ndarray | None, side: str, tokens: int
) -> np.ndarray | None:
    """Check that there is one value for each token of a side."""
    if values is None:
        return None
    array = np.asarray(values, "float32")
    if array.shape != (tokens,):
        raise ValueError(
            f"Expected {name} for each {side} token, here {tokens}. "
            f"Received: {name}.shape={array.shape}"
        )
    return array


def _draw_probability(axes: Axes, probability: np.ndarray, position: float) -> None:
    """Draw p_gen as another column."""
    extent = (position - 0.5, position + 0.5, len(probability) - 0.5, -0.5)
    heat_map(axes, probability[:, None], extent=extent)
    axes.set_xlim(-0.5, position + 0.5)


def _draw_grid(axes: Axes, rows: int, columns: int) -> None:
    """Draw white lines between the cells of the weights."""
    axes.set_xticks(np.arange(1, columns) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, rows) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0, pad=6)


def _name_axes(
    axes: Axes, source_label: str, target_label: str, start: Literal["left", "right"]
) -> None:
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(source_label, fontsize=9, color=INK, loc=start)
    axes.set_ylabel(target_label, fontsize=9, color=INK, loc="top")


def _draw_bar(axes: Axes, image: AxesImage, label: str) -> None:
    """Draw the color bar."""
    bar = axes.figure.colorbar(image, cax=axes, ticks=(0, 0.5, 1))
    bar.outline.set_visible(False)
    bar.set_label(label, color=INK, fontsize=9)
    axes.tick_params(length=0, labelsize=9, labelcolor=INK)


def _draw_coverage(axes: Axes, coverage: np.ndarray) -> None:
    """Draw a bar for each source token, and a line at 1."""
    top = max(1.0, float(coverage.max()))
    axes.bar(range(len(coverage)), coverage, width=0.8, color=COLOURS[2])
    axes.axhline(1, color=INK, linewidth=0.6)
    axes.set_ylim(0, 1.08 * top)
    axes.set_xticks([])
    axes.set_yticks([0, int(top)], ["0", str(int(top))], fontsize=8, color=INK)
    axes.set_xlabel("coverage", fontsize=9, color=INK, loc="left")
    axes.tick_params(length=0, pad=6)
    axes.spines[["top", "right", "left"]].set_visible(False)

"""Parts of attention figures: colors, text, heat maps and room for labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from kerasnmt.viz.fonts import font_families

COLOURS = ("#f1f4f9", "#b7d3ea", "#5b9fd0", "#1f66a8", "#0a2f5e")
INK = "#1f2933"


def drawn(tokens: Sequence[str]) -> list[str]:
    """Return tokens as figures show them: with a small square as the joiner, which fonts have."""
    return [token.replace("￭", "▪") for token in tokens]


def text_style(*texts: str | None) -> dict[str, Any]:
    """Return Matplotlib options for drawing these texts unchanged, in any script."""
    return {
        "color": INK,
        "fontfamily": font_families(text or "" for text in texts),
        "parse_math": False,  # a dollar sign does not start a formula
    }


def heat_map(axes: Axes, values: np.ndarray, **options: Any) -> AxesImage:
    """Draw values from 0 to 1, float `[rows, columns]`, as cells."""
    colours = LinearSegmentedColormap.from_list("attention", COLOURS)
    image = axes.imshow(
        values, cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="nearest", **options
    )
    axes.spines[:].set_visible(False)
    return image


def write_columns(
    axes: Axes, positions: Iterable[float], labels: Sequence[str], fontsize: float, style: dict
) -> None:
    """Write slanted labels above the columns of a heat map."""
    axes.xaxis.tick_top()
    style = style | {"rotation": 45, "rotation_mode": "anchor", "ha": "left", "va": "baseline"}
    axes.set_xticks(list(positions), labels, fontsize=fontsize, **style)


def fit_to_labels(figure: Figure, boxes: Mapping[Axes, tuple[float, ...]], margin: float) -> None:
    """Place axes, and set the size of the figure so that their labels fit.

    Args:
        figure: Figure of the axes.
        boxes: Left and bottom edge, width and height of each of the axes, in inches.
        margin: Margin of the figure, in inches.
    """

    def arrange(width: float, height: float, left: float, bottom: float) -> None:
        figure.set_size_inches(width, height)
        scale = np.array([width, height] * 2)
        for axes, box in boxes.items():
            axes.set_position(np.add(box, (left, bottom, 0, 0)) / scale)

    # Measure the labels once, and then move everything to where it has enough room.
    arrange(1, 1, 0, 0)
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    arrange(box.width + 2 * margin, box.height + 2 * margin, margin - box.x0, margin - box.y0)

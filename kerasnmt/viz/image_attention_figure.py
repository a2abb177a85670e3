"""Where a caption looks, word by word, over its image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kerasnmt.viz.attention_figure import INK
from kerasnmt.viz.fonts import font_families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL, _LABELS = 1.5, 0.5  # inches
_COLUMNS = 6
_DARKEST = 0.25
_MARK = "#ff9f1c"


def image_attention_figure(
    image: np.ndarray,
    weights: np.ndarray,
    words: Sequence[str],
    grid: tuple[int, int],
    title: str | None = None,
    *,
    marked: np.ndarray | None = None,
) -> Figure:
    """Draws attention over an image: the image itself, then one panel for each word.

    In the panel of a word the image is lit where the word looks, brightest in the region of its
    largest weight, which is written below; between the middles of regions the light changes evenly.

    Args:
        image: uint8 `[height, width, 3]`, or `[height, width, 1]` for grey.
        weights: float `[words, regions]`, such as `model.attend(inputs)["weights"][0]`, the
            uppermost row of regions first.
        words: written above their panels.
        grid: rows and columns of the regions, a model's `encoder.grid`.
        title: written above all, such as the caption.
        marked: boolean `[words, regions]`, which regions to frame in a word's panel, such as those
            of the object that it names.

    Returns:
        A figure of its own, see `attention_figure`.

    Raises:
        ValueError: the shape of `image`, `weights` or `marked` is not that of the words and the
            grid, or there are no words.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    weights = np.asarray(weights, "float32")
    rows, columns = grid
    expected = len(words), rows * columns
    for name, array in (("weights", weights), ("marked", marked)):
        if array is not None and (np.shape(array) != expected or not words):
            raise ValueError(
                f"image_attention_figure expects {name} of shape [words, regions], at least one of "
                f"each: here {expected}. Received: {name}.shape={np.shape(array)}"
            )
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] not in (1, 3):
        raise ValueError(
            "image_attention_figure expects an image of shape [height, width, 3] or [height, "
            f"width, 1]. Received: image.shape={image.shape}"
        )
    image = np.broadcast_to(image, (*image.shape[:2], 3))
    height, width = image.shape[:2]

    panels = len(words) + 1
    across = min(panels, _COLUMNS)
    down = -(-panels // across)
    tall = _PANEL * height / width + _LABELS
    figure = Figure((across * _PANEL, down * tall + (0.3 if title else 0)), 150, layout="tight")
    # Characters are shown as they are: a dollar sign starts no formula.
    text = {
        "color": INK,
        "fontfamily": font_families([*words, title or ""]),
        "parse_math": False,
    }
    if title:
        figure.suptitle(title, fontsize=10, **text)
    first, *others = figure.subplots(down, across, squeeze=False).flat
    for axes in (first, *others):
        axes.set_axis_off()
    first.imshow(image)
    for axes, word, of_word, frame in zip(
        others, words, weights, [None] * len(words) if marked is None else marked, strict=False
    ):
        light = _between(of_word.reshape(grid) / max(of_word.max(), 1e-9), height, width)
        axes.imshow((image * (_DARKEST + (1 - _DARKEST) * light[..., None])).astype("uint8"))
        axes.set_title(word, fontsize=9, pad=3, **text)
        axes.text(
            *(0.5, -0.03, f"{of_word.max():.2f}"),
            **{"transform": axes.transAxes, "ha": "center", "va": "top", "fontsize": 7},
            color=INK,
        )
        for region in () if frame is None else np.flatnonzero(frame):
            row, column = divmod(int(region), columns)
            corner = column * width / columns - 0.5, row * height / rows - 0.5
            size = width / columns, height / rows
            axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=_MARK, linewidth=1.2))
    return figure


def _between(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """Values in the middles of regions, `[rows, columns]`, interpolated to every pixel."""
    for axis, size in ((0, height), (1, width)):
        count = values.shape[axis]
        middles = (np.arange(count) + 0.5) * size / count
        pixels = np.arange(size) + 0.5
        values = np.apply_along_axis(
            lambda line, middles=middles, pixels=pixels: np.interp(pixels, middles, line),
            axis,
            values,
        )
    return values

"""Attention of each word of a caption to its image."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kerasnmt.viz.heat_maps import INK, text_style

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
    """Draw an image, and one panel for each word of its caption with the attention of the word.

    In the panel of a word, regions that the word attends to are bright. The brightness is
    interpolated between the centers of regions. The largest weight is written below the panel.

    Args:
        image: Uint8 `[height, width, 3]`, or `[height, width, 1]` for gray.
        weights: Attention weights, float `[words, regions]`, such as
            `model.attend(inputs)["weights"][0]`. The regions are sorted row by row from the top.
        words: Titles of the panels.
        grid: Numbers of rows and columns of regions, such as `model.encoder.grid`.
        title: Title of the figure, such as the caption.
        marked: Regions with a frame in each panel, boolean `[words, regions]`, such as the regions
            of the object that the word names, or None.

    Returns:
        A Matplotlib figure; see `attention_figure`.

    Raises:
        ValueError: If the shape of `image`, `weights` or `marked` does not match the words and the
            grid, or there are no words.
    """
    weights = np.asarray(weights, "float32")
    image = np.asarray(image)
    _check_shapes(image, weights, marked, words, grid)
    image = np.broadcast_to(image, (*image.shape[:2], 3))
    height, width = image.shape[:2]
    across = min(len(words) + 1, _COLUMNS)
    down = -(-(len(words) + 1) // across)
    tall = _PANEL * height / width + _LABELS
    figure = Figure((across * _PANEL, down * tall + (0.3 if title else 0)), 150, layout="tight")
    style = text_style(*words, title)
    if title:
        figure.suptitle(title, fontsize=10, **style)
    first, *others = figure.subplots(down, across, squeeze=False).flat
    for axes in (first, *others):
        axes.set_axis_off()
    first.imshow(image)
    for axes, word, of_word in zip(others, words, weights, strict=False):
        axes.set_title(word, fontsize=9, pad=3, **style)
        _light(axes, image, of_word.reshape(grid))
    if marked is not None:
        for axes, regions in zip(others, marked, strict=False):
            _frame(axes, np.reshape(regions, grid), height, width)
    return figure


def _check_shapes(
    image: np.ndarray,
    weights: np.ndarray,
    marked: np.ndarray | None,
    words: Sequence[str],
    grid: tuple[int, int],
) -> None:
    expected = len(words), grid[0] * grid[1]
    for name, array in (("weights", weights), ("marked", marked)):
        if array is not None and (np.shape(array) != expected or not words):
            raise ValueError(
                f"Expected {name} of shape [words, regions], at least one of each, here "
                f"{expected}. Received: {name}.shape={np.shape(array)}"
            )
    if image.ndim != 3 or image.shape[2] not in (1, 3):
        raise ValueError(
            "Expected an image of shape [height, width, 3] or [height, width, 1]. "
            f"Received: image.shape={image.shape}"
        )


def _light(axes: Axes, image: np.ndarray, weights: np.ndarray) -> None:
    """Draw an image with the weights of its regions, `[rows, columns]`, as brightness."""
    light = _between(weights / max(weights.max(), 1e-9), *image.shape[:2])
    axes.imshow((image * (_DARKEST + (1 - _DARKEST) * light[..., None])).astype("uint8"))
    axes.text(
        *(0.5, -0.03, f"{weights.max():.2f}"),
        color=INK,
        ha="center",
        va="top",
        fontsize=7,
        transform=axes.transAxes,
    )


def _frame(axes: Axes, marked: np.ndarray, height: int, width: int) -> None:
    """Draw a frame around the marked regions, boolean `[rows, columns]`, of an image."""
    rows, columns = marked.shape
    size = width / columns, height / rows
    for row, column in np.argwhere(marked):
        corner = column * width / columns - 0.5, row * height / rows - 0.5
        axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=_MARK, linewidth=1.2))


def _between(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """Interpolate values at the centers of regions, `[rows, columns]`, to every pixel."""
    for axis, size in ((0, height), (1, width)):
        count = values.shape[axis]
        middles = (np.arange(count) + 0.5) * size / count
        pixels = np.arange(size) + 0.5
        values = np.apply_along_axis(partial(np.interp, pixels, middles), axis, values)
    return values

"""From a figure to pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_to_image(figure: Figure) -> np.ndarray:
    """Draws a figure into an array, as TensorBoard's image summaries take it.

    Args:
        figure: any Matplotlib figure.

    Returns:
        uint8 `[height, width, 4]`: red, green, blue and alpha.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())

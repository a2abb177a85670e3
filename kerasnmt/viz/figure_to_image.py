"""Figures as arrays of pixels."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def figure_to_image(figure: Figure) -> np.ndarray:
    """Convert a figure to an array, for image summaries of TensorBoard.

    Args:
        figure: A Matplotlib figure.

    Returns:
        Uint8 `[height, width, 4]`, red, green, blue and alpha.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())

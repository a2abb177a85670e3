"""Figures and pages of attention, learning curves, and comparisons of training runs.

The inputs are NumPy arrays, and the outputs are text, HTML and Matplotlib figures.
Only the figures import Matplotlib.
"""

from kerasnmt.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

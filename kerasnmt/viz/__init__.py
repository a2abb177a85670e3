"""Figures and pages of attention, learning curves, word alignments, and IBM model 1.

The inputs are NumPy arrays, and the outputs are text, HTML, numbers and Matplotlib figures.
Only the figures import Matplotlib.
"""

from kerasnmt.extras import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

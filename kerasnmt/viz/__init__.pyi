"""Figures and pages of attention, learning curves, and comparisons of training runs.

The inputs are NumPy arrays, and the outputs are text, HTML and Matplotlib figures.
Figures need Matplotlib.
"""

from .attention_figure import attention_figure
from .attention_heads_figure import attention_heads_figure
from .attention_page import attention_page, attention_table
from .attention_text import attention_text
from .comparison_page import ComparedSentence, comparison_page
from .figure_to_image import figure_to_image
from .image_attention_figure import image_attention_figure
from .learning_curve import learning_curve_figure, learning_curves_figure
from .memory_figure import memory_figure

__all__ = [
    "ComparedSentence",
    "attention_figure",
    "attention_heads_figure",
    "attention_page",
    "attention_table",
    "attention_text",
    "comparison_page",
    "figure_to_image",
    "image_attention_figure",
    "learning_curve_figure",
    "learning_curves_figure",
    "memory_figure",
]

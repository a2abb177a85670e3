"""Figures and pages of attention, learning curves, word alignments, and IBM model 1.

The inputs are NumPy arrays, and the outputs are text, HTML, numbers and Matplotlib figures.
Figures need Matplotlib.
"""

from .alignment_error_rate import alignment_error_rate
from .attention_figure import attention_figure
from .attention_heads_figure import attention_heads_figure
from .attention_page import attention_page, attention_table
from .attention_text import attention_text
from .figure_to_image import figure_to_image
from .ibm_model_1 import IBMModel1
from .image_attention_figure import image_attention_figure
from .learning_curve import learning_curve_figure
from .memory_figure import memory_figure
from .pharaoh import format_pharaoh, parse_pharaoh, parse_pharaoh_lines
from .word_alignment import word_alignment

__all__ = [
    "IBMModel1",
    "alignment_error_rate",
    "attention_figure",
    "attention_heads_figure",
    "attention_page",
    "attention_table",
    "attention_text",
    "figure_to_image",
    "format_pharaoh",
    "image_attention_figure",
    "learning_curve_figure",
    "memory_figure",
    "parse_pharaoh",
    "parse_pharaoh_lines",
    "word_alignment",
]

"""Word alignments: the Pharaoh format, links from attention, IBM model 1, and their error rate."""

from kerasnmt.alignment.alignment_error_rate import alignment_error_rate
from kerasnmt.alignment.ibm_model_1 import IBMModel1
from kerasnmt.alignment.pharaoh import format_pharaoh, parse_pharaoh, parse_pharaoh_lines
from kerasnmt.alignment.word_alignment import word_alignment

__all__ = [
    "IBMModel1",
    "alignment_error_rate",
    "format_pharaoh",
    "parse_pharaoh",
    "parse_pharaoh_lines",
    "word_alignment",
]

"""Tasks, which turn requests such as texts or images into answers, on TensorFlow and JAX."""

from .answering import AnsweringTask
from .captioning import CaptioningTask
from .confidence import Calibration, Confidence, expected_calibration_error, right_words
from .explorer import Exploration, Explorer, Inspection, TreeNode, WordChoice
from .search_task import SearchTask
from .sentence_attention import SentenceAttention
from .served_model import Progress, ServedModel
from .shortlists import Shortlist
from .task import Task, task_of
from .translation import TranslationTask
from .translator import Translator

__all__ = [
    "AnsweringTask",
    "Calibration",
    "CaptioningTask",
    "Confidence",
    "Exploration",
    "Explorer",
    "Inspection",
    "Progress",
    "SearchTask",
    "SentenceAttention",
    "ServedModel",
    "Shortlist",
    "Task",
    "TranslationTask",
    "Translator",
    "TreeNode",
    "WordChoice",
    "expected_calibration_error",
    "right_words",
    "task_of",
]

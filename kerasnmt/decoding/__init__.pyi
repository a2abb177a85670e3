"""Search for the best outputs of a step function, independent of layers and models."""

from .constraints import IMPOSSIBLE
from .hypotheses import Hypotheses, SearchTree, StepOutputs
from .listed_ids import EveryId, ListedIds
from .penalties import length_penalty
from .search_options import SearchOptions
from .searching import search
from .stepwise import Stepwise
from .terms import Terms
from .translation_options import TranslationOptions

__all__ = [
    "IMPOSSIBLE",
    "EveryId",
    "Hypotheses",
    "ListedIds",
    "SearchOptions",
    "SearchTree",
    "StepOutputs",
    "Stepwise",
    "Terms",
    "TranslationOptions",
    "length_penalty",
    "search",
]

"""Search for the best output of a step function; knows no layer and no model."""

from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.length_penalty import length_penalty
from kerasnmt.decoding.search import search
from kerasnmt.decoding.search_options import SearchOptions

__all__ = ["IMPOSSIBLE", "Hypotheses", "SearchOptions", "length_penalty", "search"]

"""Search for the best output of a step function; knows no layer and no model."""

from kerasnmt.decoding.beam_search import IMPOSSIBLE, beam_search
from kerasnmt.decoding.greedy_search import greedy_search
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.length_penalty import length_penalty

__all__ = ["IMPOSSIBLE", "Hypotheses", "beam_search", "greedy_search", "length_penalty"]

"""The zoo: every model of the library, by name."""

from kerasnmt.zoo.bahdanau import bahdanau_gru
from kerasnmt.zoo.registry import get_model, list_models

__all__ = ["bahdanau_gru", "get_model", "list_models"]

"""Zoo, with all models of the library by name.

Each name is a function that creates a model with random weights. Its `from_preset` loads a trained
model: `bahdanau_gru.from_preset("tatoeba_en_fr_gru")`.
"""

# Each module registers its models, and each registered model is a name of this package.
# `__init__.pyi`, which `make` writes, contains their signatures and docstrings.

from kerasnmt.presets.choosing import find_presets
from kerasnmt.presets.finding import from_preset, get_preset, list_presets
from kerasnmt.zoo import (
    bahdanau,
    captions,
    conditional,
    context,
    encoder_decoder,
    hard,
    luong,
    memory,
    pointer,
    transformer,
)
from kerasnmt.zoo.registry import get_model, list_models

__all__ = [
    *("find_presets", "from_preset", "get_model", "get_preset", "list_models", "list_presets"),
    *list_models(),
]

globals().update({name: get_model(name) for name in list_models()})

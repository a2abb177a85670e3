"""Tiny random models with a step, which tests of ONNX Runtime in Python and JavaScript share."""

import numpy as np

from kerasnmt import zoo
from kerasnmt.text import WordTokenizer
from tests.conftest import WORDS
from tests.numerics import fill

OPTIONS = {"beam_size": 3, "length_penalty": 0.6, "max_length": 10}
# Some words are outside the vocabulary. One text has such a word twice.
TEXTS = ["two dogs run .", "zeb runs . zeb and anna run .", "", "   ", "dog", "anna zeb a zeb"]
SIZES = {"embedding_dim": 6, "units": 6, "dropout": 0.0}
TRANSFORMER = {"units": 8, "num_heads": 2, "hidden_units": 8, "dropout": 0.0}


def make(name):
    """Create a tiny model with large random weights."""
    tokenizer = WordTokenizer(WORDS)
    sizes = TRANSFORMER if name.startswith("transformer") else SIZES
    model = fill(zoo.get_model(name)(tokenizer, **sizes), 56, scale=1.3)
    if name.startswith("transformer"):
        for weight in model.weights:  # random norms would make all words alike
            if "norm" in weight.path:
                weight.assign(np.full(weight.shape, weight.path.endswith("gamma")))
    return model

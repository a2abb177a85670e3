"""The unknown token in searches: allowed, forbidden, and copied instead."""

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.serving import ExportModule
from kerasnmt.text import WordTokenizer

WORDS = WordTokenizer(["a", "b"])


@pytest.fixture(scope="module")
def make():
    """Return a function that makes a model that nearly always generates the unknown token."""

    def make(name):
        model = zoo.get_model(name)(WORDS, embedding_dim=4, units=4)
        for weight in model.weights:
            weight.assign(np.zeros(weight.shape))
            if tuple(weight.shape) == (WORDS.vocabulary_size,):
                weight.assign(5.0 * np.eye(WORDS.vocabulary_size)[UNKNOWN_ID])
        return model

    return make


another = pytest.mark.thorough("another search shows it")


@pytest.mark.parametrize(
    "search",
    [
        {"beam_size": 3},
        pytest.param({"beam_size": 1}, marks=another),
        pytest.param({"samples": 4}, marks=another),
    ],
)
def test_a_model_that_generates_the_unknown_token(make, search):
    model, ids = make("bahdanau_gru"), np.array([[4, 1, 3]])
    options = {"max_length": 4, **search}
    found = model.search(ids, **options).ids
    assert (np.array(found) == UNKNOWN_ID).sum() >= 2
    found = model.search(ids, allow_unknown=False, min_length=3, **options).ids
    assert not (np.array(found) == UNKNOWN_ID).any()


def test_a_model_that_copies_does_not_write_the_unknown_token(make, eagerly):
    model = make("pointer_generator_gru")
    options = {"max_length": 4, "min_length": 4, "beam_size": 1}
    found = ExportModule(model, **options).signatures["serving_default"](tf.constant(["Zoë Zoë"]))
    assert found["translation"].numpy()[0].decode() == "Zoë Zoë Zoë Zoë"

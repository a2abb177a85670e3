"""Frozen parts of a model in its copies."""

import copy
import pickle

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.layers import Attention, GRUCell, LuongDecoderCell
from tests.zoo.tiny_models import INPUTS, TARGETS, TINY_TRANSFORMER


@pytest.fixture(scope="module")
def model():
    model = zoo.transformer_tiny(11, 13, **TINY_TRANSFORMER)
    model.encoder.trainable = False
    model.compile("adam", run_eagerly=True)
    model.train_on_batch(INPUTS, TARGETS)
    return model


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        pytest.param(
            lambda model: pickle.loads(pickle.dumps(model)),
            marks=pytest.mark.thorough("another way to copy"),
        ),
    ],
    ids=["copy", "pickle"],
)
def test_a_copy_trains_the_same_weights_and_goes_on_with_the_same_optimizer(model, copied):
    other = copied(model)
    weights, others = (one.trainable_variables for one in (model, other))
    assert [one.shape for one in others] == [one.shape for one in weights]
    assert not model.encoder.trainable_variables and not other.encoder.trainable_variables
    states = zip(model.optimizer.variables, other.optimizer.variables, strict=True)
    assert all(np.array_equal(one, another) for one, another in states)
    before = other.encoder.get_weights()
    other.run_eagerly = True
    other.train_on_batch(INPUTS, TARGETS)
    for one, another in zip(before, other.encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(one, another)


def test_a_clone_trains_the_same_weights(model):
    clone = keras.models.clone_model(model)
    assert len(clone.trainable_variables) == len(model.trainable_variables)
    assert not clone.encoder.trainable_variables and clone.decoder.trainable_variables


def test_a_frozen_attention_whose_score_has_a_name():
    cell = LuongDecoderCell(GRUCell(4), Attention("general"))
    cell.build((None, None, 3), (None, None, 4))
    cell.attention.trainable = False
    other = type(cell).from_config(cell.get_config())
    other.build((None, None, 3), (None, None, 4))
    assert not other.attention.trainable_variables and other.attention.weights
    assert len(other.trainable_variables) == len(cell.trainable_variables) > 0

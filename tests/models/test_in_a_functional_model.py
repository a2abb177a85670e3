"""Models of the zoo as layers of Keras' own models: saved, loaded and cloned with equal outputs."""

import keras
import numpy as np
import pytest

from tests.models import memory_networks
from tests.zoo import tiny_models

pytestmark = pytest.mark.usefixtures("eagerly")


def make(name):
    """Return a model, and its inputs."""
    if name == "memory_network":
        return memory_networks.make(), memory_networks.INPUTS
    model = tiny_models.make(name)
    return model, tiny_models.example(model)[0]


def around(layer, inputs):
    """Return a functional model with a dense layer after the given one."""
    symbols = {
        name: keras.Input(rows.shape[1:], dtype=str(rows.dtype), name=name)
        for name, rows in inputs.items()
    }
    return keras.Model(symbols, keras.layers.Dense(3)(layer(symbols)))


def check_copies(model, inputs, path):
    expected = np.asarray(model(inputs))
    model.save(path)
    loaded = keras.saving.load_model(path)
    np.testing.assert_array_equal(loaded(inputs), expected)
    cloned = keras.models.clone_model(model)
    cloned(inputs)  # a `Sequential` without an `Input` has its weights after the first call
    assert [weight.shape for weight in cloned.weights] == [weight.shape for weight in model.weights]
    cloned.set_weights(model.get_weights())
    np.testing.assert_array_equal(cloned(inputs), expected)


@pytest.mark.parametrize(
    "name",
    [
        "bahdanau_gru",
        pytest.param("memory_network", marks=tiny_models.thorough),
        pytest.param("show_attend_tell_lstm", marks=tiny_models.thorough),
        pytest.param("transformer_tiny", marks=tiny_models.thorough),
    ],
)
def test_a_functional_model_around_a_model(name, tmp_path):
    model, inputs = make(name)
    check_copies(around(model, inputs), inputs, tmp_path / "model.keras")


def test_a_functional_model_in_another_around_a_model(tmp_path):
    model, inputs = make("memory_network")
    outer = around(around(model, inputs), inputs)
    check_copies(outer, inputs, tmp_path / "model.keras")


@pytest.mark.thorough("one call shows it")
def test_a_model_that_is_called_twice_in_a_functional_model(tmp_path):
    model, inputs = make("memory_network")
    story = keras.Input((None, 4), dtype="int32", name="story_ids")
    question = keras.Input((None,), dtype="int32", name="question_ids")
    asked = model({"story_ids": story, "question_ids": question})
    again = model({"story_ids": story[:, :2], "question_ids": question})
    outer = keras.Model({"story_ids": story, "question_ids": question}, asked - again)
    check_copies(outer, inputs, tmp_path / "model.keras")


@tiny_models.thorough
def test_a_model_in_a_sequential(tmp_path):
    model, inputs = make("bahdanau_gru")
    outer = keras.Sequential([model, keras.layers.Dense(3)])
    outer(inputs)
    check_copies(outer, inputs, tmp_path / "model.keras")

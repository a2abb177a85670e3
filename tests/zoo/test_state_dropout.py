"""Dropout of states in every model of the zoo."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from kerasnmt import zoo
from tests.zoo.tiny_models import OPTIONS, example, log_probabilities, make, shared

# Models with recurrent states, and masks for them.
CASES = [case for case in OPTIONS if not {*re.split("[ _]", case)} & {"fused", "transformer"}]
ALWAYS = ["bahdanau_lstm"]
thorough = pytest.mark.thorough("another model shows it")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case in ALWAYS else thorough) for case in CASES]
)
def test_in_training_only(case):
    name, options = OPTIONS[case]
    plain, model = shared(case), make(name, state_dropout=0.5, **options)
    inputs, _ = example(model)
    expected = log_probabilities(plain, plain(inputs))
    np.testing.assert_array_equal(log_probabilities(model, model(inputs)), expected)
    one, other = (
        np.asarray(log_probabilities(model, model(inputs, training=True))) for _ in range(2)
    )
    assert np.isfinite(one).all()
    assert np.abs(one - expected).max() > 0.01 and np.abs(one - other).max() > 0.01
    # Search uses the same states as without dropout.
    states, _ = model.encode(inputs)
    others, _ = plain.encode(inputs)
    tree.map_structure(np.testing.assert_array_equal, states, others)
    # In training, there is also a mask for each cell of the decoder.
    cell = (model.decoder.decoder if hasattr(model.decoder, "gate") else model.decoder).cell
    training, _ = model.encode(inputs, training=True)
    assert len(training.cell) - len(states.cell) == len(cell.cell.mask_size) > 0


@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.parametrize("name", ["bahdanau_gru", "luong_dot_lstm"])
def test_its_random_numbers_are_variables_of_the_model(name, rate):
    model = make(name, state_dropout=rate)
    generators = [v for v in model.variables if v.name == "seed_generator_state"]
    # For scheduled sampling, and for the encoder's layer and the decoder's cell.
    assert len(generators) == (3 if rate else 1)


@pytest.mark.thorough("trains; tests/layers shows the masks of the cell")
@pytest.mark.parametrize(
    ("name", "options", "how"),
    [
        ("bahdanau_gru", {"coverage": 0.1}, {"run_eagerly": True}),
        ("encoder_decoder_gru", {"num_layers": 2}, {"run_eagerly": True}),
        ("bahdanau_gru", {"coverage": 0.1}, {"jit_compile": True}),
        (
            *("luong_local_m_lstm", {"input_feeding": True, "num_layers": 2}),
            {"jit_compile": True},
        ),
    ],
)
def test_training(name, options, how):
    model = make(name, state_dropout=0.3, **options)
    model.compile(keras.optimizers.Adam(0.05), **how)
    inputs, targets = example(model)
    data = tf.data.Dataset.from_tensors((inputs, targets))
    losses = model.fit(data, epochs=8, verbose=0).history["loss"]
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]


def test_through_a_file(tmp_path):
    model = make("pointer_generator_lstm", state_dropout=0.25)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert copy.encoder.layers[0].state_dropout == copy.decoder.decoder.cell.state_dropout == 0.25
    inputs, _ = example(model)
    states, _ = copy.encode(inputs, training=True)
    assert len(states.cell) == 3  # h, c and a mask


def test_not_with_the_cell_of_cudnn():
    message = r"state_dropout=0 with fused=True.*Received: fused=True, state_dropout=0\.2"
    with pytest.raises(ValueError, match=message):
        zoo.luong_dot_lstm(11, units=4, fused=True, state_dropout=0.2)

"""Luong's models with the paper's encoder, which only reads forward."""

import numpy as np
import pytest

from kerasnmt import layers, zoo
from tests.zoo.tiny_models import INPUTS, SOURCE, make, marks

NAMES = [name for name in zoo.list_models() if name.startswith("luong")]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(name, ["luong_local_p_lstm"])) for name in NAMES]
)
def test_sizes(name):
    model = make(name, bidirectional=False, units=5, embedding_dim=3)
    (layer,) = model.encoder.layers
    assert type(layer) is layers.ForwardLayer and type(model.bridge) is layers.LastStateBridge
    annotations, _, states = model.encoder(SOURCE)
    assert annotations.shape == (3, 5, 5)
    assert {state.shape for state in model.bridge(states)} == {(3, 5)}
    assert model(INPUTS).shape == (3, 4, 13)


def test_weights():
    # Four gates of 5 units read 3 features and 5 states.
    model = zoo.luong_dot_lstm(11, embedding_dim=3, units=5, bidirectional=False)
    shapes = sorted(tuple(weight.shape) for weight in model.encoder.layers[0].weights)
    assert shapes == [(3, 20), (5, 20), (20,)]
    wide = zoo.luong_general_gru(
        11, embedding_dim=3, units=4, encoder_units=7, bidirectional=False, num_layers=2
    )
    assert [layer.units for layer in wide.encoder.layers] == [7, 7]
    assert [layer.units for layer in wide.bridge.projections] == [4, 4]


@pytest.mark.thorough("tests/layers shows it of the layer")
@pytest.mark.parametrize("num_layers", [1, 2])
def test_no_annotation_depends_on_later_words(num_layers):
    changed = SOURCE.copy()
    changed[0, 3] = 7
    for bidirectional in (False, True):
        model = make("luong_dot_lstm", bidirectional=bidirectional, num_layers=num_layers)
        before, after = (np.asarray(model.encoder(ids)[0]) for ids in (SOURCE, changed))
        equal = np.isclose(before, after, atol=1e-6).all(axis=-1)
        np.testing.assert_array_equal(equal[1:], True)
        expected = [not bidirectional] * 3 + [False] * 2
        np.testing.assert_array_equal(equal[0], expected)


@pytest.mark.parametrize("size", [0, -2])
def test_sizes_below_one(size):
    with pytest.raises(ValueError, match=rf"Expected units above 0. Received: units={size}"):
        zoo.luong_dot_lstm(11, units=size, bidirectional=False)

import keras
import numpy as np
import pytest

from kerasnmt.layers import (
    AttentionalReadout,
    BackwardStateBridge,
    ConcatReadout,
    DeepOutputReadout,
    DenseBridge,
    LastStateBridge,
    MaxoutReadout,
    StateReadout,
    TanhReadout,
    TiedVocabularyProjection,
    VocabularyProjection,
    ZeroBridge,
)
from tests.numerics import fill


def test_maxout_by_hand():
    # Two features from four: max(1, 3) and max(5, 2), then with the state's sign turned.
    readout = MaxoutReadout(2)
    readout.build((None, 1), (None, 1), (None, 1))
    kernel = [[1.0, 0.0, 0.0, 0.0], [0.0, 5.0, 3.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    readout.projection.set_weights([np.array(kernel), np.zeros(4)])
    one = np.ones((1, 1), "float32")
    np.testing.assert_allclose(readout(one, one, one), [[3.0, 5.0]])
    np.testing.assert_allclose(readout(one, -one, one), [[1.0, 2.0]])


def test_maxout_equals_the_equation_in_numpy():
    rng = np.random.default_rng(0)
    readout = MaxoutReadout(4)
    readout.build((None, None, 3), (None, None, 5), (None, None, 2))
    v, u, c, b = (rng.normal(size=s) for s in ((3, 8), (5, 8), (2, 8), 8))
    readout.projection.set_weights([np.concatenate([v, u, c]), b])
    y, s, context = (rng.normal(size=(2, 6, n)) for n in (3, 5, 2))
    hidden = y @ v + s @ u + context @ c + b
    features = readout(*(x.astype("float32") for x in (y, s, context)))
    assert features.shape == (2, 6, 4)
    for j in range(4):
        expected = np.maximum(hidden[..., j], hidden[..., j + 4])
        np.testing.assert_allclose(features[..., j], expected, atol=1e-5)


def test_tanh_by_hand():
    # tanh(V y + U s + C c + b) of y = 1, s = 2, c = -1.
    readout = TanhReadout(2)
    readout.build((None, 1), (None, 1), (None, 1))
    kernel = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]]
    readout.projection.set_weights([np.array(kernel), np.array([0.05, 0.0])])
    one = np.ones((1, 1), "float32")
    expected = np.tanh([[0.1 + 0.6 - 0.5 + 0.05, 0.2 - 0.8 - 0.6]])
    np.testing.assert_allclose(readout(one, 2 * one, -one), expected, rtol=1e-6)


def test_deep_output_equals_the_equation_in_numpy():
    rng = np.random.default_rng(0)
    readout = DeepOutputReadout()
    readout.build((None, None, 3), (None, None, 5), (None, None, 2))
    assert readout.units == 3
    of_state, of_context = (rng.normal(size=(size, 3)) for size in (5, 2))
    readout.set_weights([of_state, of_context])
    y, s, context = (rng.normal(size=(2, 6, n)).astype("float32") for n in (3, 5, 2))
    expected = y + s @ of_state + context @ of_context
    np.testing.assert_allclose(readout(y, s, context), expected, atol=1e-5)


def test_bridge_has_a_projection_for_each_backward_state():
    rng = np.random.default_rng(1)
    bridge = BackwardStateBridge(4)
    bridge.build([[[3, 2], [3, 2]]])
    fill(bridge)
    backward = [rng.normal(size=(5, units)).astype("float32") for units in (3, 2)]
    states = bridge([[None, backward], [None, None]])
    for state, projection, received in zip(backward, bridge.projections, states, strict=True):
        w, b = projection.get_weights()
        np.testing.assert_allclose(received, np.tanh(state @ w + b), atol=1e-6)


def encoder_states():
    """Return states of two layers with two directions, two states of 3 units each."""
    rng = np.random.default_rng(4)
    return rng.normal(size=(2, 2, 2, 5, 3)).astype("float32")


def as_lists(states):
    return [[list(direction) for direction in layer] for layer in states]


def test_last_state_bridge_puts_directions_side_by_side():
    states = encoder_states()
    received = LastStateBridge()(as_lists(states))
    assert len(received) == 4
    for layer in range(2):
        for number in range(2):
            expected = np.concatenate([states[layer, 0, number], states[layer, 1, number]], -1)
            np.testing.assert_array_equal(received[2 * layer + number], expected)


def test_dense_bridge_sees_all_states():
    states = encoder_states()
    bridge = DenseBridge([4, 7])
    bridge.build([[[3, 3], [3, 3]], [[3, 3], [3, 3]]])
    received = bridge(as_lists(states))
    together = states.transpose(3, 0, 1, 2, 4).reshape(5, 24)
    for size, state, projection in zip([4, 7], received, bridge.projections, strict=True):
        w, b = projection.get_weights()
        assert w.shape == (24, size)
        np.testing.assert_allclose(state, np.tanh(together @ w + b), atol=1e-6)


@pytest.mark.parametrize("bridge", [BackwardStateBridge(4), DenseBridge([4])], ids=["one", "all"])
def test_a_functional_model_can_call_a_bridge(bridge):
    first, last = keras.Input((3,)), keras.Input((3,))
    model = keras.Model([first, last], bridge([[[first], [last]]])[0])
    copy = keras.Model.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    states = [np.ones((2, 3)), np.full((2, 3), 2.0)]
    (expected,) = bridge([[[states[0]], [states[1]]]])
    for one in (model, copy):
        np.testing.assert_allclose(one(states), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [(BackwardStateBridge(4), [[[[3], [3]]]]), (DeepOutputReadout(), [(None, 3)] * 3)],
    ids=["bridge", "readout"],
)
def test_what_build_creates_in_a_frozen_layer_is_frozen(layer, shapes):
    layer.trainable = False
    layer.build(*shapes)
    assert layer.variables and not any(variable.trainable for variable in layer.variables)


def test_zero_bridge():
    states = ZeroBridge([4, 7])(as_lists(encoder_states()))
    assert [state.shape for state in states] == [(5, 4), (5, 7)]
    assert not any(np.any(state) for state in states)


def test_other_readouts():
    rng = np.random.default_rng(5)
    embedded, state, context = (rng.normal(size=(2, 6, n)).astype("float32") for n in (3, 4, 5))
    shapes = [(None, n) for n in (3, 4, 5)]
    readouts = ConcatReadout(), AttentionalReadout(6), StateReadout()
    for readout in readouts:
        readout.build(*shapes)
    concat, attentional, alone = (readout(embedded, state, context) for readout in readouts)
    assert [readout.units for readout in readouts] == [9, 6, 4]
    together = np.concatenate([context, state], -1)
    np.testing.assert_array_equal(concat, together)
    (kernel,) = readouts[1].projection.get_weights()
    np.testing.assert_allclose(attentional, np.tanh(together @ kernel), atol=1e-6)
    np.testing.assert_array_equal(alone, state)


def test_vocabulary_projection():
    rng = np.random.default_rng(2)
    generator = VocabularyProjection(7)
    generator.build((None, 3))
    w, b = rng.normal(size=(3, 7)), rng.normal(size=7)
    generator.set_weights([w, b])
    features = rng.normal(size=(2, 5, 3)).astype("float32")
    logits = generator(features)
    np.testing.assert_allclose(logits, features @ w + b, atol=1e-5)
    everything = np.asarray(generator.next_log_probability(logits))
    np.testing.assert_allclose(np.exp(everything).sum(-1), 1.0, rtol=1e-5)
    ids = rng.integers(0, 7, size=(2, 5))
    chosen, mean, *_ = generator.log_probability(logits, ids)
    np.testing.assert_allclose(
        chosen, np.take_along_axis(everything, ids[..., None], -1)[..., 0], atol=1e-5
    )
    np.testing.assert_allclose(mean, everything.mean(-1), atol=1e-5)


def test_tied_projection_uses_the_embeddings():
    rng = np.random.default_rng(3)
    generator = TiedVocabularyProjection(7)
    generator.build((None, 3), (7, 3))
    assert [weight.shape for weight in generator.weights] == [(7,)]
    bias = rng.normal(size=7)
    generator.set_weights([bias])
    features = rng.normal(size=(2, 3)).astype("float32")
    embeddings = rng.normal(size=(7, 3)).astype("float32")
    np.testing.assert_allclose(
        generator(features, embeddings), features @ embeddings.T + bias, atol=1e-6
    )


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_projections_compute_in_half_precision_and_keep_float32_weights(dtype):
    features = keras.ops.ones((2, 3), dtype.removeprefix("mixed_"))
    embeddings = keras.ops.ones((7, 3), "float32")
    for generator in (
        VocabularyProjection(7, dtype=dtype),
        TiedVocabularyProjection(7, dtype=dtype),
    ):
        generator.build((None, 3), (7, 3))
        logits = generator(features, embeddings)
        assert keras.backend.standardize_dtype(logits.dtype) == dtype.removeprefix("mixed_")
        assert {weight.dtype for weight in generator.weights} == {"float32"}
        log_probabilities = generator.next_log_probability(logits)
        assert keras.backend.standardize_dtype(log_probabilities.dtype) == "float32"

import keras
import numpy as np
import pytest

from kerasnmt.layers import (
    FusedCell,
    GRUCell,
    LSTMCell,
    NormalizedGRUCell,
    NormalizedLSTMCell,
    SimpleRNNCell,
    StackedCell,
    TransitionCell,
)
from tests.numerics import fill, sigmoid


def test_gru_by_hand():
    # Zero weights but the candidate's bias: z = sigmoid(ln 3) = 3/4, r = sigmoid(0) = 1/2,
    # h~ = tanh(0.3 + 0.5 * 0.4) = tanh(0.5), h' = 3/4 * 0.8 + 1/4 * h~.
    cell = GRUCell(1)
    cell.build((None, 3))
    cell.set_weights([np.zeros((1, 3)), np.array([0.0, 0.0, 0.4])])
    output, (state,) = cell(np.array([[np.log(3.0), 0.0, 0.3]], "float32"), [np.array([[0.8]])])
    np.testing.assert_allclose(output, [[0.6 + 0.25 * np.tanh(0.5)]], rtol=1e-6)
    np.testing.assert_array_equal(output, state)


def test_lstm_by_hand():
    # No recurrent weights: i = sigmoid(ln 3) = 3/4, f = sigmoid(-1 + 1) = 1/2, o = sigmoid(0),
    # c' = 1/2 * 0.8 + 3/4 * tanh(0.3), h' = 1/2 * tanh(c').
    cell = LSTMCell(1)
    cell.build((None, 4))
    cell.set_weights([np.zeros((1, 4))])
    inputs = np.array([[np.log(3.0), -1.0, 0.3, 0.0]], "float32")
    output, (state, memory) = cell(inputs, [np.array([[0.5]]), np.array([[0.8]])])
    expected = 0.4 + 0.75 * np.tanh(0.3)
    np.testing.assert_allclose(memory, [[expected]], rtol=1e-6)
    np.testing.assert_allclose(output, [[0.5 * np.tanh(expected)]], rtol=1e-6)
    np.testing.assert_array_equal(output, state)


@pytest.mark.parametrize(
    ("ours", "theirs", "forget"),
    [
        (GRUCell(5), keras.layers.GRUCell(5, reset_after=True), 0.0),
        (LSTMCell(5), keras.layers.LSTMCell(5), 1.0),
        (SimpleRNNCell(5), keras.layers.SimpleRNNCell(5), 0.0),
    ],
)
def test_equals_keras(ours, theirs, forget):
    theirs.build((None, 3))
    kernel, recurrent, bias = fill(theirs, seed=1).get_weights()
    # The GRU has a bias of the input, and one of the state.
    bias, *own = bias if bias.ndim == 2 else [bias]
    bias[5:10] -= forget  # of ours it is a constant
    ours.build((None, ours.input_size))
    ours.set_weights([recurrent, *own])
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4, 3)).astype("float32")
    states = [rng.normal(size=(4, 5)).astype("float32") for _ in ours.state_size]
    expected, expected_states = theirs(x, states)
    output, new_states = ours((x @ kernel + bias).astype("float32"), states)
    np.testing.assert_allclose(output, expected, atol=1e-6)
    for one, other in zip(new_states, expected_states, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def layer_norm(x, norm):
    gamma, beta = norm.get_weights()
    return gamma * (x - x.mean()) / np.sqrt(x.var() + 1e-6) + beta


def test_normalized_gru_in_numpy():
    # [z; r] = sigmoid(LN(x) + LN(U h)); h~ = tanh(LN(x_h) + r * LN(U_h h)).
    cell = NormalizedGRUCell(3)
    cell.build((None, 9))
    fill(cell, seed=4)
    rng = np.random.default_rng(5)
    x, h = rng.normal(size=9), rng.normal(size=3)
    u = h @ np.asarray(cell.recurrent_kernel)
    norms = cell.norms
    z, r = np.split(sigmoid(layer_norm(x[:6], norms[0]) + layer_norm(u[:6], norms[2])), 2)
    candidate = np.tanh(layer_norm(x[6:], norms[1]) + r * layer_norm(u[6:], norms[3]))
    output, (state,) = cell(x[None].astype("float32"), [h[None].astype("float32")])
    np.testing.assert_allclose(output[0], z * h + (1 - z) * candidate, atol=1e-5)
    np.testing.assert_array_equal(output, state)


def test_normalized_lstm_in_numpy():
    # gates = LN(x) + LN(U h); c' = f c + i g; h' = o tanh(LN(c')).
    cell = NormalizedLSTMCell(3)
    cell.build((None, 12))
    fill(cell, seed=6)
    rng = np.random.default_rng(7)
    x, h, c = rng.normal(size=12), rng.normal(size=3), rng.normal(size=3)
    u = h @ np.asarray(cell.recurrent_kernel)
    i, f, g, o = np.split(layer_norm(x, cell.norms[0]) + layer_norm(u, cell.norms[1]), 4)
    c_new = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(g)
    inputs, states = x[None].astype("float32"), [h[None].astype("float32"), c[None]]
    output, (state, memory) = cell(inputs, states)
    np.testing.assert_allclose(memory[0], c_new, atol=1e-5)
    expected = sigmoid(o) * np.tanh(layer_norm(c_new, cell.norms[2]))
    np.testing.assert_allclose(output[0], expected, atol=1e-5)
    np.testing.assert_array_equal(output, state)


@pytest.mark.parametrize("cell", [NormalizedGRUCell(3), NormalizedLSTMCell(3)])
def test_normalized_cells_do_not_depend_on_the_scale_of_their_weights(cell):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(2, cell.input_size)).astype("float32")
    states = [rng.normal(size=(2, 3)).astype("float32") for _ in cell.state_size]
    before, _ = cell(x, states)
    cell.recurrent_kernel.assign(50 * cell.recurrent_kernel)
    np.testing.assert_allclose(cell(20 * x + 3, states)[0], before, atol=1e-4)


def test_transitions_run_one_after_the_other():
    cells = [LSTMCell(3), LSTMCell(3)]
    cell = TransitionCell(cells)
    x, h, c = (np.random.normal(size=(2, size)).astype("float32") for size in (12, 3, 3))
    output, states = cell(x, [h, c])
    _, between = cells[0](x, [h, c])
    bias = np.tile(cell.biases[0], (2, 1))
    expected, expected_states = cells[1](bias, between)
    np.testing.assert_allclose(output, expected, atol=1e-6)
    np.testing.assert_allclose(states[1], expected_states[1], atol=1e-6)
    mask = np.array([[2.0, 0.0, 2.0]] * 2, "float32")
    masked, (*_, passed) = cell(x, [h, c, mask])
    np.testing.assert_array_equal(passed, mask)
    assert np.abs(masked - output).max() > 1e-3


@pytest.mark.parametrize(
    "cell",
    [
        GRUCell(4),
        LSTMCell(4),
        SimpleRNNCell(4),
        NormalizedGRUCell(4),
        NormalizedLSTMCell(4),
        TransitionCell([GRUCell(4), GRUCell(4)]),
        TransitionCell([FusedCell(keras.layers.GRU(4, return_sequences=True)) for _ in range(2)]),
    ],
)
def test_several_hypotheses_equal_one_by_one(cell):
    x = np.random.normal(size=(2, 3, cell.input_size)).astype("float32")
    states = [np.random.normal(size=(2, 3, 4)).astype("float32") for _ in cell.state_size]
    output, new_states = cell(x, states)
    for k in range(3):
        one, one_states = cell(x[:, k], [state[:, k] for state in states])
        np.testing.assert_allclose(output[:, k], one, atol=1e-6)
        np.testing.assert_allclose(new_states[-1][:, k], one_states[-1], atol=1e-6)


def test_simple_rnn_with_the_logistic_function_by_hand():
    # sigm(x + U h): x + U h = (ln 3, -ln 3), whose logistic function is (3/4, 1/4).
    cell = SimpleRNNCell(2, activation="sigmoid")
    cell.build((None, 2))
    cell.set_weights([np.array([[1.0, 0.0], [2.0, -1.0]])])
    state = np.array([[0.5, 0.25]], "float32")  # U h = (0.5 + 2 * 0.25, -0.25)
    inputs = np.array([[np.log(3.0) - 1.0, 0.25 - np.log(3.0)]], "float32")
    output, (new_state,) = cell(inputs, [state])
    np.testing.assert_allclose(output, [[0.75, 0.25]], rtol=1e-6)
    np.testing.assert_array_equal(output, new_state)
    copy = SimpleRNNCell.from_config(cell.get_config())
    copy.build((None, 2))
    copy.set_weights(cell.get_weights())
    np.testing.assert_array_equal(copy(inputs, [state])[0], output)


def test_simple_rnn_of_an_older_config_has_tanh():
    config = SimpleRNNCell(2).get_config()
    del config["activation"]
    for older in ({}, {"activation": "tanh"}):
        cell = SimpleRNNCell.from_config({**config, **older})
        assert cell.activation is keras.activations.tanh


def test_three_stacked_cells_by_hand():
    # Cells without recurrent weights pass on tanh(W x + b), so only the two projections differ.
    cell = StackedCell([SimpleRNNCell(2), SimpleRNNCell(2), SimpleRNNCell(2)])
    cell.build((None, 2))
    first, second = (layer.get_weights() for layer in cell.input_projections)
    assert not np.allclose(first[0], second[0])
    for one in cell.cells:
        one.set_weights([np.zeros((2, 2))])
    inputs, states = np.array([[0.3, -0.6]], "float32"), [np.zeros((1, 2), "float32")] * 3
    output, (above, middle, below) = cell(inputs, states)
    np.testing.assert_allclose(below, np.tanh(inputs), rtol=1e-6)
    np.testing.assert_allclose(middle, np.tanh(np.tanh(inputs) @ first[0] + first[1]), rtol=1e-5)
    np.testing.assert_allclose(above, np.tanh(middle @ second[0] + second[1]), rtol=1e-5)
    np.testing.assert_array_equal(output, above)


def test_inputs_of_an_unknown_size():
    outputs = keras.layers.RNN(GRUCell(4))(keras.Input((None, None)))
    assert outputs.shape == (None, 4)

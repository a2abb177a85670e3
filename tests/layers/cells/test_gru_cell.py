import keras
import numpy as np

from kerasnmt.layers import GRUCell


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_hand_computed():
    # Zero weights but the candidate's bias: z = sigmoid(ln 3) = 3/4, r = sigmoid(0) = 1/2,
    # h~ = tanh(0.3 + 0.5 * 0.4) = tanh(0.5), h' = 3/4 * 0.8 + 1/4 * h~.
    cell = GRUCell(1)
    cell.build((None, 3))
    cell.set_weights([np.zeros((1, 3)), np.array([0.0, 0.0, 0.4])])
    output, (state,) = cell(np.array([[np.log(3.0), 0.0, 0.3]], "float32"), [np.array([[0.8]])])
    np.testing.assert_allclose(output, [[0.6 + 0.25 * np.tanh(0.5)]], rtol=1e-6)
    np.testing.assert_array_equal(output, state)


def test_equals_the_equations_in_numpy():
    rng = np.random.default_rng(0)
    cell = GRUCell(4)
    cell.build((None, 12))
    kernel, bias = rng.normal(size=(4, 12)), rng.normal(size=12)
    cell.set_weights([kernel, bias])
    x, h = rng.normal(size=(3, 12)), rng.normal(size=(3, 4))
    u_z, u_r, u_h = np.split(kernel, 3, axis=1)
    b_z, b_r, b_h = np.split(bias, 3)
    z = sigmoid(x[:, :4] + h @ u_z + b_z)
    r = sigmoid(x[:, 4:8] + h @ u_r + b_r)
    candidate = np.tanh(x[:, 8:] + r * (h @ u_h + b_h))
    output, _ = cell(x.astype("float32"), [h.astype("float32")])
    np.testing.assert_allclose(output, z * h + (1 - z) * candidate, atol=1e-6)


def test_equals_keras_gru_cell():
    rng = np.random.default_rng(1)
    theirs = keras.layers.GRUCell(5, reset_after=True)
    theirs.build((None, 3))
    kernel, recurrent = rng.normal(size=(3, 15)), rng.normal(size=(5, 15))
    bias = rng.normal(size=(2, 15))  # of the input, of the state
    theirs.set_weights([kernel, recurrent, bias])
    ours = GRUCell(5)
    ours.build((None, 15))
    ours.set_weights([recurrent, bias[1]])
    x = rng.normal(size=(4, 3)).astype("float32")
    h = rng.normal(size=(4, 5)).astype("float32")
    expected, _ = theirs(x, [h])
    output, _ = ours((x @ kernel + bias[0]).astype("float32"), [h])
    np.testing.assert_allclose(output, expected, atol=1e-6)


def test_several_hypotheses_equal_one_by_one():
    cell = GRUCell(4)
    x = np.random.normal(size=(2, 3, 12)).astype("float32")
    h = np.random.normal(size=(2, 3, 4)).astype("float32")
    output, _ = cell(x, [h])
    for k in range(3):
        np.testing.assert_allclose(output[:, k], cell(x[:, k], [h[:, k]])[0], atol=1e-6)

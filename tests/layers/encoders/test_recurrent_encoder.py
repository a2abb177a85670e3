import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    BackwardLayer,
    BidirectionalLayer,
    ForwardLayer,
    GRUCell,
    LSTMCell,
    RecurrentEncoder,
    SimpleRNNCell,
)
from tests.numerics import fill, gru


def numpy_gru(words, kernel, bias, cell):
    """Return all states of a GRU for `words` `[length, features]`."""
    states = [np.zeros(4)]
    for x in words @ kernel + bias:
        states.append(gru(x, states[-1:], *cell.get_weights())[0])
    return np.array(states[1:])


@pytest.fixture
def encoder():
    encoder = RecurrentEncoder(keras.layers.Embedding(9, 3), [BidirectionalLayer(GRUCell(4))])
    encoder.build((None, None))
    return fill(encoder)


IDS = np.array([[4, 8, 5, 3], [7, 3, 0, 0], [3, 0, 0, 0]], "int32")


def test_equals_the_transcription(encoder):
    (embeddings,) = encoder.embedding.get_weights()
    (layer,) = encoder.layers
    kernels, biases = (np.split(w, 2, axis=-1) for w in layer.input_projection.get_weights())
    cells = [loop.cell for loop in layer.loops]
    of_forward, of_backward = zip(kernels, biases, cells, strict=True)
    memory, mask, [[[forward], [backward]]] = encoder(IDS)
    assert memory.shape == (3, 4, encoder.memory_units) == (3, 4, 8)
    np.testing.assert_array_equal(mask, IDS != 0)
    for row, length in enumerate([4, 2, 1]):
        words = embeddings[IDS[row, :length]]
        rightwards = numpy_gru(words, *of_forward)
        leftwards = numpy_gru(words[::-1], *of_backward)[::-1]
        annotations = np.concatenate([rightwards, leftwards], axis=-1)
        np.testing.assert_allclose(memory[row, :length], annotations, atol=1e-5)
        np.testing.assert_allclose(forward[row], rightwards[-1], atol=1e-5)
        np.testing.assert_allclose(backward[row], leftwards[0], atol=1e-5)


def test_padding_changes_nothing(encoder):
    memory, _, states = encoder(IDS)
    longer, _, longer_states = encoder(np.pad(IDS, ((0, 0), (0, 3))))
    real = IDS != 0
    np.testing.assert_allclose(longer[:, :4][real], memory[real], atol=1e-6)
    np.testing.assert_allclose(longer_states, states, atol=1e-6)


def test_embedded_words_give_the_same(encoder):
    other = RecurrentEncoder(None, [BidirectionalLayer(GRUCell(4))])
    other.build((None, None), (None, None, 3))
    other.set_weights(encoder.get_weights()[1:])
    memory, mask, states = other(IDS, embedded=encoder.embedding(IDS))
    expected, expected_mask, expected_states = encoder(IDS)
    np.testing.assert_array_equal(mask, expected_mask)
    np.testing.assert_allclose(memory, expected, atol=1e-6)
    np.testing.assert_allclose(states, expected_states, atol=1e-6)


def test_dropout_only_in_training():
    encoder = RecurrentEncoder(
        keras.layers.Embedding(9, 3), [BidirectionalLayer(GRUCell(4))], dropout=0.5
    )
    plain, _, _ = encoder(IDS)
    np.testing.assert_array_equal(encoder(IDS)[0], plain)
    assert np.abs(encoder(IDS, training=True)[0] - plain).max() > 1e-3


@pytest.mark.graph
def test_no_cudnn_even_beside_a_gpu(monkeypatch):
    # A graph traced where there is a GPU must run where there is none; and cuDNN refuses rows of
    # padding alone.
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda *_: ["GPU:0"])
    encoder = RecurrentEncoder(keras.layers.Embedding(9, 3), [BidirectionalLayer(GRUCell(4))])
    graph = (
        tf.function(encoder, autograph=False)
        .get_concrete_function(tf.TensorSpec([None, None], tf.int32))
        .graph
    )
    names = {node.op for node in graph.as_graph_def().node}
    names |= {n.op for f in graph.as_graph_def().library.function for n in f.node_def}
    assert "MatMul" in names  # the graph was read, functions included
    assert not {name for name in names if "Cudnn" in name}


@pytest.mark.parametrize("cell", [SimpleRNNCell, GRUCell, LSTMCell])
def test_backward_reads_the_reversed_source(cell):
    forward, backward = ForwardLayer(cell(4)), BackwardLayer(cell(4))
    for layer in (forward, backward):
        layer.build((None, None, 3))
        fill(layer)
    assert forward.units == backward.units == 4
    words = np.random.default_rng(2).normal(size=(3, 4, 3)).astype("float32")
    outputs, [states] = backward(words, source_mask=IDS != 0)
    for row, length in enumerate([4, 2, 1]):
        expected, [expected_states] = forward(
            words[row : row + 1, :length][:, ::-1], source_mask=np.ones((1, length), bool)
        )
        np.testing.assert_allclose(outputs[row, :length], expected[0, ::-1], atol=1e-6)
        for state, expected_state in zip(states, expected_states, strict=True):
            np.testing.assert_allclose(state[row], expected_state[0], atol=1e-6)
    np.testing.assert_allclose(states[0], outputs[:, 0], atol=1e-6)


@pytest.mark.parametrize("residual", [False, True])
def test_stack_is_one_layer_after_the_other(residual):
    layers = [
        BidirectionalLayer(LSTMCell(2)),
        ForwardLayer(GRUCell(4)),
        BackwardLayer(SimpleRNNCell(5)),
    ]
    encoder = RecurrentEncoder(keras.layers.Embedding(9, 4), layers, residual=residual)
    memory, mask, states = encoder(IDS)
    words = encoder.embedding(IDS)
    one, one_states = layers[0](
        words, source_mask=mask
    )  # of the words' size, but not added to them
    two, two_states = layers[1](one, source_mask=mask)
    if residual:
        two = two + one
    three, three_states = layers[2](two, source_mask=mask)  # of another size: not added
    np.testing.assert_allclose(memory, three, atol=1e-6)
    assert encoder.memory_units == memory.shape[-1] == 5
    assert encoder.state_size == [[[5]], [[4]], [[2, 2], [2, 2]]]
    for layer, expected in zip(states, [three_states, two_states, one_states], strict=True):
        for direction, expected_direction in zip(layer, expected, strict=True):
            for state, expected_state in zip(direction, expected_direction, strict=True):
                np.testing.assert_allclose(state, expected_state, atol=1e-6)

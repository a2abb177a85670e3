import keras
import numpy as np
import pytest

from kerasnmt.layers import (
    BackwardStateBridge,
    BahdanauAttention,
    BahdanauDecoderCell,
    FusedCell,
    GRUCell,
    LSTMCell,
    RecurrentDecoder,
    SimpleRNNCell,
    StateReadout,
    UpperLayer,
    VocabularyProjection,
)
from tests.numerics import additive, dtype_policy, fill, gru, lstm, softmax


def features(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def built(cell, below=3, context=2, **options):
    layer = UpperLayer(cell, **options)
    layer.build((None, below), (None, None, context))
    return fill(layer)


@pytest.mark.parametrize(
    ("cell", "step"),
    [(GRUCell, gru), pytest.param(LSTMCell, lstm, marks=pytest.mark.thorough("another cell"))],
)
@pytest.mark.parametrize("residual", [False, True])
def test_by_hand(cell, step, residual):
    """s_t = cell(W [below_t; c_t] + b, s_{t-1}), plus below_t with a residual connection."""
    layer = built(cell(3), residual=residual)
    below, context = features(2, 4, 3), features(2, 4, 2, seed=4)
    first = [features(2, size, seed=5) for size in layer.cell.state_size]
    kernel, bias = layer.input_projection.get_weights()
    found = layer(below, context, layer.initial_state(first))
    for row in range(2):
        states = [state[row] for state in first]
        for t in range(4):
            inputs = np.concatenate([below[row, t], context[row, t]]) @ kernel + bias
            output, states = step(inputs, states, *layer.cell.get_weights())
            expected = output + below[row, t] if residual else output
            np.testing.assert_allclose(found[row, t], expected, atol=1e-5)


def test_a_layer_of_another_size_has_no_residual_connection():
    below, context, states = features(1, 2, 3), features(1, 2, 2), [np.zeros((1, 4), "float32")]
    plain, residual = (built(GRUCell(4), residual=adds) for adds in (False, True))
    np.testing.assert_array_equal(*(one(below, context, states) for one in (plain, residual)))


@pytest.mark.parametrize(
    "cell", [lambda: LSTMCell(3), lambda: FusedCell(keras.layers.LSTM(3, return_sequences=True))]
)
@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_steps_equal_the_full_pass(cell, policy):
    with dtype_policy(policy):
        layer = built(cell(), residual=True)
    below, context = (
        keras.ops.cast(features(2, 4, size, seed=size), layer.compute_dtype) for size in (3, 2)
    )
    states = [keras.ops.zeros((2, 3), layer.compute_dtype)] * 2
    full = layer(below, context, states)
    assert full.dtype == below.dtype
    # Here, each row has one hypothesis.
    states = [state[:, None] for state in states]
    for t in range(4):
        output, states = layer.step(below[:, t : t + 1], context[:, t : t + 1], states)
        np.testing.assert_allclose(
            np.asarray(output[:, 0], "float32"),
            np.asarray(full[:, t], "float32"),
            atol=1e-5 if policy == "float32" else 0.05,
        )


def test_inputs_are_dropped_in_training():
    """Each unit reads one input, which is 0 or twice as large."""
    layer = built(SimpleRNNCell(5), below=3, dropout=0.5)
    layer.input_projection.set_weights([np.eye(5), np.zeros(5)])
    layer.cell.set_weights([np.zeros_like(weight) for weight in layer.cell.get_weights()])
    below, context = np.ones((20, 6, 3), "float32"), np.ones((20, 6, 2), "float32")
    states = [np.zeros((20, 5), "float32")]
    np.testing.assert_allclose(layer(below, context, states), np.tanh(1), rtol=1e-5)
    dropped = np.asarray(layer(below, context, states, training=True))
    kept = dropped != 0
    np.testing.assert_allclose(dropped[kept], np.tanh(2), rtol=1e-5)
    assert 0.4 < kept.mean() < 0.6
    assert 0.3 < kept[..., :3].mean() < 0.7
    assert 0.3 < kept[..., 3:].mean() < 0.7


def test_states_are_dropped_in_training():
    layer = built(GRUCell(3), state_dropout=0.5)
    below, context = features(1, 3, 3), features(1, 3, 2)
    first = features(1, 3, seed=5)
    assert len(layer.initial_state([first])) == 1
    _, mask = states = layer.initial_state([first], training=True)
    kernel, bias = layer.input_projection.get_weights()
    (found,) = layer(below, context, states, training=True)
    state = [first[0]]
    for t in range(3):
        inputs = np.concatenate([below[0, t], context[0, t]]) @ kernel + bias
        output, state = gru(inputs, state, *layer.cell.get_weights(), dropped=np.asarray(mask[0]))
        np.testing.assert_allclose(found[t], output, atol=1e-5)


def deep(*upper):
    decoder = RecurrentDecoder(
        keras.layers.Embedding(7, 2),
        BahdanauDecoderCell(GRUCell(3), BahdanauAttention(4)),
        StateReadout(),
        VocabularyProjection(7),
        upper=upper,
    )
    decoder.build((None, None, 2))
    return fill(decoder)


def test_a_decoder_of_three_layers_by_hand():
    """The first layer attends. The others read the layer below and the context of the first."""
    decoder = deep(UpperLayer(GRUCell(3)), UpperLayer(GRUCell(3), residual=True))
    ids = np.array([[2, 5, 4, 6]], "int32")
    annotations = features(1, 5, 2)
    top, middle, bottom = states = [features(1, 3, seed=seed) for seed in (5, 6, 7)]
    memory = decoder.project_memory(annotations, np.ones((1, 5), bool))
    found, records = decoder(ids, decoder.initial_state(states, memory), memory)
    cell, generator = decoder.cell, decoder.generator.get_weights()
    (words,) = decoder.embedding.get_weights()
    kernel, bias = cell.input_projection.get_weights()
    (context_kernel,) = cell.context_projection.get_weights()
    bottom, middle, top = bottom[0], middle[0], top[0]
    for t, word in enumerate(ids[0]):
        weights = softmax(additive(cell.attention.score, bottom, annotations[0]))
        np.testing.assert_allclose(records["weights"][0, t], weights, atol=1e-5)
        context = weights @ annotations[0]
        inputs = words[word] @ kernel + bias + context @ context_kernel
        bottom, _ = gru(inputs, [bottom], *cell.cell.get_weights())
        outputs = [bottom]
        for layer, state in zip(decoder.upper, [middle, top], strict=True):
            w, b = layer.input_projection.get_weights()
            inputs = np.concatenate([outputs[-1], context]) @ w + b
            outputs.append(gru(inputs, [state], *layer.cell.get_weights())[0])
        _, middle, top = outputs
        logits = (top + middle) @ generator[0] + generator[1]
        np.testing.assert_allclose(found[0, t], logits, atol=1e-4)


def test_a_bridge_without_states_for_upper_layers():
    decoder = deep(UpperLayer(LSTMCell(3)))
    memory = decoder.project_memory(features(1, 5, 2), np.ones((1, 5), bool))
    states = [np.zeros((1, 3), "float32")]
    with pytest.raises(ValueError, match=r"sizes \[3, 3\].*LSTMCell.*sizes=\[3\] from the bridge"):
        decoder.initial_state(states, memory)


def test_a_bridge_of_several_layers():
    """Each layer of the decoder starts from the backward state of the encoder layer beside it."""
    bridge = BackwardStateBridge(4, num_layers=2)
    sizes = [[[3], [3]], [[2], [2]], [[5], [5]]]
    bridge.build(sizes)
    fill(bridge)
    layers = [[[features(6, *size, seed=7 * size[0] + i)] for i, size in enumerate(layer)]
              for layer in sizes]  # fmt: skip
    states = bridge(layers)
    assert len(states) == 2
    for layer, projection, found in zip(layers, bridge.projections, states, strict=False):
        w, b = projection.get_weights()
        np.testing.assert_allclose(found, np.tanh(layer[1][0] @ w + b), atol=1e-5)

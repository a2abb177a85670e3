"""Dropout of states, compared with NumPy, with the same masks."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    Attention,
    BahdanauAttention,
    BahdanauDecoderCell,
    BidirectionalLayer,
    Coverage,
    DotScore,
    FirstStateDecoderCell,
    ForwardLayer,
    FusedCell,
    GeneralScore,
    GRUCell,
    InputFeedingDecoderCell,
    LocalMonotonicWindow,
    LSTMCell,
    LuongDecoderCell,
    RecurrentEncoder,
    SimpleRNNCell,
    StackedCell,
    StateDropout,
    ThoughtVectorDecoderCell,
)
from tests.numerics import dtype_policy, fill, gru, lstm
from tests.runs import eager, xla

BATCH, SOURCE_LENGTH, TARGET_LENGTH, UNITS, FEATURES = 3, 5, 4, 4, 3
RNG = np.random.default_rng(0)
MEMORY = RNG.normal(size=(BATCH, SOURCE_LENGTH, UNITS)).astype("float32")
MASK = np.arange(SOURCE_LENGTH) < np.array([[5], [3], [1]])
EMBEDDED = RNG.normal(size=(BATCH, TARGET_LENGTH, FEATURES)).astype("float32")
FIRST = [RNG.normal(size=(BATCH, UNITS)).astype("float32") for _ in range(4)]


def with_weights(layer, *shapes):
    layer.build(*shapes)
    return fill(layer, seed=1)


def decoder_cell(cell):
    return with_weights(cell, (None, None, FEATURES), (None, None, UNITS))


def test_masks():
    dropout = StateDropout(0.2, [300, 200])
    states = [np.ones((40, 300), "float32"), np.ones((40, 200), "float32")]
    assert len(dropout(states)) == 2
    *same, one, other = dropout(states, training=True)
    np.testing.assert_array_equal(same[0], states[0])
    assert one.shape == (40, 300) and other.shape == (40, 200)
    np.testing.assert_allclose(np.unique(one), [0, 1.25], rtol=1e-6)
    # 12,000 draws: the share is within 3.3 deviations, and the expected value of U (m h) is U h.
    assert np.mean(np.equal(one, 0)) == pytest.approx(0.2, abs=0.012)
    assert np.mean(one) == pytest.approx(1.0, abs=0.015)
    # Rows, masks and calls have different random numbers.
    assert np.any(one[0] != one[1]) and np.any(one[:, :200] != other)
    assert np.any(dropout(states, training=True)[2] != one)


def test_the_generator_is_the_layers_own():
    dropout, copy = StateDropout(0.5, [9]), StateDropout(0.5, [9])
    states = [np.ones((2, 9), "float32")]
    copy.seed_generator.state.assign(dropout.seed_generator.state)
    np.testing.assert_array_equal(dropout(states, training=True)[1], copy(states, training=True)[1])
    assert len(dropout.variables) == 1 and not dropout.weights
    assert StateDropout(0.0, []).variables == []


def test_a_cell_that_takes_no_masks():
    cell = FusedCell(keras.layers.LSTM(4, return_sequences=True))
    assert FirstStateDecoderCell(cell).state_dropout == 0
    with pytest.raises(ValueError, match=r"not FusedCell\. Received: state_dropout=0\.2"):
        FirstStateDecoderCell(cell, state_dropout=0.2)


def drawn_masks(layer, count, run):
    """Return the masks that a layer will draw in its next `count` calls, except with XLA."""
    copy = StateDropout.from_config(layer.state_masks.get_config())
    copy.seed_generator.state.assign(layer.state_masks.seed_generator.state)
    states = [np.ones((BATCH, 1), "float32")]
    draw = run(lambda states: copy(states, training=True)[1])
    return [np.asarray(draw(states)) for _ in range(count)]


@pytest.mark.parametrize(
    "run",
    [eager, pytest.param(xla, marks=pytest.mark.graph)],
)
def test_an_encoder_layer_has_one_mask_for_all_steps(run):
    layer = with_weights(
        BidirectionalLayer(GRUCell(UNITS), state_dropout=0.5), (None, None, FEATURES)
    )
    inputs = RNG.normal(size=(BATCH, SOURCE_LENGTH, FEATURES)).astype("float32")
    masks = drawn_masks(layer, 2, run)
    assert np.any(masks[0] != masks[1])
    read = run(lambda inputs: layer(inputs, MASK, training=True))
    outputs, states = read(inputs)
    assert [len(own) for own in states] == [1, 1]
    kernel, bias = layer.input_projection.get_weights()
    projected = np.split(inputs @ kernel + bias, 2, axis=-1)
    for row, length in enumerate(MASK.sum(axis=1)):
        for direction, loop in enumerate(layer.loops):
            h, found = np.zeros(UNITS), []
            order = range(length)[:: -1 if direction else 1]
            for t in order:
                x = projected[direction][row, t]
                h, _ = gru(x, [h], *loop.cell.get_weights(), masks[direction][row])
                found.append(h)
            own = outputs[row, :, direction * UNITS : (direction + 1) * UNITS]
            np.testing.assert_allclose(np.asarray(own)[list(order)], found, atol=1e-5)
            np.testing.assert_allclose(states[direction][0][row], h, atol=1e-5)


def test_a_decoder_cell_has_one_mask_for_all_steps():
    # s_t = LSTM([y; c], s_{t-1}): h is masked, c is not, and neither is the output.
    cell = decoder_cell(BahdanauDecoderCell(LSTMCell(UNITS), BahdanauAttention(5), 0.5))
    memory = cell.project_memory(MEMORY, MASK)
    states = cell.initial_state(FIRST[:2], memory, training=True)
    assert len(states.cell) == 3
    masks = np.asarray(states.cell[2])
    loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    inputs = cell.project_inputs(EMBEDDED)
    outputs, weights = cell.unroll(loop, inputs, states, memory)
    (kernel,) = cell.cell.get_weights()
    for row in range(BATCH):
        own = [state[row] for state in FIRST[:2]]
        for t, x in enumerate(np.asarray(inputs)[row]):
            # The query of the attention is the current state.
            context, expected = cell.attention(
                own[0][None].astype("float32"),
                **{key: value[row : row + 1] for key, value in memory.items()},
            )
            np.testing.assert_allclose(weights[row, t], expected[0], atol=1e-5)
            h, own = lstm(x + np.asarray(context)[0], own, kernel, masks[row])
            np.testing.assert_allclose(outputs[row, t], h, atol=1e-5)


def test_a_stack_has_a_mask_for_each_cell():
    # SimpleRNN above LSTM: h' = tanh(V h_lstm + b + U (m h)).
    cell = decoder_cell(
        FirstStateDecoderCell(StackedCell([LSTMCell(UNITS), SimpleRNNCell(UNITS)]), 0.5)
    )
    assert cell.cell.mask_size == [UNITS, UNITS]
    states = cell.initial_state(FIRST[:3], {}, training=True)
    above, below = (np.asarray(mask) for mask in states.cell[3:])
    loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    inputs = cell.project_inputs(EMBEDDED)
    outputs, _ = cell.unroll(loop, inputs, states, {})
    lower, upper = (part.get_weights()[0] for part in cell.cell.cells)
    kernel, bias = cell.cell.input_projections[0].get_weights()
    for row in range(BATCH):
        top, *own = (state[row] for state in FIRST[:3])
        for t, x in enumerate(np.asarray(inputs)[row]):
            h, own = lstm(x, own, lower, below[row])
            top = np.tanh(h @ kernel + bias + (above[row] * top) @ upper)
            np.testing.assert_allclose(outputs[row, t], top, atol=1e-5)


CELLS = {
    "luong": lambda rate: LuongDecoderCell(
        StackedCell([SimpleRNNCell(UNITS), GRUCell(UNITS)], True),
        Attention(DotScore(), LocalMonotonicWindow(1)),
        rate,
    ),
    "feeding": lambda rate: InputFeedingDecoderCell(
        LSTMCell(UNITS), Attention(GeneralScore(UNITS), coverage=Coverage()), rate
    ),
    "bahdanau": lambda rate: BahdanauDecoderCell(
        GRUCell(UNITS), BahdanauAttention(5, Coverage()), rate
    ),
    "thought": lambda rate: ThoughtVectorDecoderCell(LSTMCell(UNITS), rate),
    "first": lambda rate: FirstStateDecoderCell(SimpleRNNCell(UNITS), rate),
}


@pytest.mark.parametrize("name", CELLS)
def test_steps_equal_the_whole_pass_under_masks(name):
    cell, plain = (decoder_cell(CELLS[name](rate)) for rate in (0.5, 0.0))
    first = FIRST[: len(cell.cell.state_size)]
    memory = cell.project_memory(MEMORY, MASK)
    inputs = cell.project_inputs(EMBEDDED)
    loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)

    def unroll(cell, training):
        states = cell.initial_state(first, memory, training)
        return cell.unroll(loop, inputs, states, memory), states

    (outputs, weights), states = unroll(cell, True)
    masked = len(states.cell)
    for t in range(TARGET_LENGTH):
        output, one, states = cell.step(inputs[:, t], states, memory)
        np.testing.assert_allclose(output, outputs[:, t], atol=1e-5)
        if weights is not None:
            np.testing.assert_allclose(one, weights[:, t], atol=1e-5)
    assert len(states.cell) == masked
    # Without training, and at rate 0, there are no masks and nothing changes.
    (expected, _), states = unroll(plain, True)
    assert len(states.cell) == masked - len(cell.cell.mask_size)
    np.testing.assert_array_equal(unroll(cell, False)[0][0], expected)
    assert np.abs(outputs - expected).max() > 0.01


def test_an_encoder_hands_training_on():
    encoder = RecurrentEncoder(
        keras.layers.Embedding(9, FEATURES),
        [ForwardLayer(LSTMCell(UNITS)), ForwardLayer(LSTMCell(UNITS), 0.5)],
    )
    with_weights(encoder, (None, None))
    ids = np.array([[4, 8, 5, 3]], "int32")
    plain, _, _ = encoder(ids)
    np.testing.assert_array_equal(encoder(ids, training=False)[0], plain)
    assert np.abs(encoder(ids, training=True)[0] - plain).max() > 1e-3


@pytest.mark.parametrize(
    "policy",
    [
        "mixed_bfloat16",
        pytest.param("mixed_float16", marks=pytest.mark.thorough("another precision")),
    ],
)
def test_half_precision(policy):
    with dtype_policy(policy):
        layer = with_weights(BidirectionalLayer(LSTMCell(UNITS), 0.5), (None, None, FEATURES))
        cell = decoder_cell(CELLS["bahdanau"](0.5))
        loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    half = policy.removeprefix("mixed_")
    outputs, _ = layer(tf.cast(EMBEDDED, half), training=True)
    assert outputs.dtype == half and np.isfinite(tf.cast(outputs, "float32")).all()
    memory = cell.project_memory(tf.cast(MEMORY, half), MASK)
    states = cell.initial_state([tf.cast(FIRST[0], half)], memory, training=True)
    assert states.cell[1].dtype == half
    inputs = cell.project_inputs(tf.cast(EMBEDDED, half))
    outputs, weights = cell.unroll(loop, inputs, states, memory)
    assert np.isfinite(tf.cast(outputs, "float32")).all() and np.isfinite(weights).all()

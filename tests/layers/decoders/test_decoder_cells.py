"""Decoder cells, compared with their equations in NumPy, word by word."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops, tree

from kerasnmt.layers import (
    Attention,
    BahdanauAttention,
    BahdanauDecoderCell,
    ConditionalDecoderCell,
    ContextDecoderCell,
    Coverage,
    DotScore,
    DoublyStochastic,
    FirstStateDecoderCell,
    GatedDecoderCell,
    GaussianAttention,
    GeneralScore,
    GRUCell,
    HistoryDecoderCell,
    InputFeedingDecoderCell,
    LocalMonotonicWindow,
    LSTMCell,
    LuongDecoderCell,
    SimpleRNNCell,
    StackedCell,
    ThoughtVectorDecoderCell,
    TransitionCell,
)
from tests.numerics import additive, dtype_policy, fill, gru, lstm, sigmoid, softmax

BATCH, LENGTH, FEATURES, UNITS, TARGET_LENGTH = 2, 5, 3, 4, 6
MASK = np.arange(LENGTH) < np.array([[5], [3]])
RNG = np.random.default_rng(0)
EMBEDDED = RNG.normal(size=(BATCH, TARGET_LENGTH, FEATURES)).astype("float32")
MEMORY = RNG.normal(size=(BATCH, LENGTH, UNITS)).astype("float32")
FIRST = [RNG.normal(size=(BATCH, UNITS)).astype("float32") for _ in range(4)]


def build(cell):
    cell.build((None, None, FEATURES), (None, None, UNITS))
    return fill(cell, seed=1)


def project(cell, memory=MEMORY):
    """Return the memory of the cell. A context is a part of the source."""
    if isinstance(cell, ContextDecoderCell):
        memory = {"source": memory, "context": memory[:, :4]}
        return cell.project_memory(memory, {"source": MASK, "context": MASK[:, :4]})
    return cell.project_memory(memory, MASK)


def unroll(cell):
    """Return outputs and weights of the whole pass, and of the single steps."""
    loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    memory = project(cell)
    states = cell.initial_state(FIRST[: len(cell.cell.state_size)], memory, steps=TARGET_LENGTH)
    inputs = cell.project_inputs(EMBEDDED)
    outputs, weights = cell.unroll(loop, inputs, states, memory)
    for t in range(TARGET_LENGTH):
        output, step_weights, states = cell.step(inputs[:, t], states, memory)
        np.testing.assert_allclose(output, outputs[:, t], atol=1e-5)
        if weights is None:
            assert step_weights is None
        else:
            np.testing.assert_allclose(step_weights, weights[:, t], atol=1e-5)
    return outputs, weights


def projected(cell, row):
    kernel, bias = cell.input_projection.get_weights()
    return EMBEDDED[row] @ kernel + bias


def test_a_cell_of_keras():
    message = "cell of kerasnmt.layers, such as LSTMCell.* Received: cell=<LSTMCell name=lstm"
    with pytest.raises(ValueError, match=message):
        InputFeedingDecoderCell(keras.layers.LSTMCell(8), Attention(GeneralScore(8)))


def test_luong():
    # s_t = LSTM(y, s_{t-1}); alpha = softmax(s_t^T W h).
    cell = build(LuongDecoderCell(LSTMCell(UNITS), Attention(GeneralScore(UNITS))))
    outputs, weights = unroll(cell)
    (kernel,) = cell.cell.get_weights()
    general = cell.attention.score.get_weights()[0] / np.sqrt(UNITS)
    for row in range(BATCH):
        states = [state[row] for state in FIRST[:2]]
        for t, x in enumerate(projected(cell, row)):
            output, states = lstm(x, states, kernel)
            np.testing.assert_allclose(outputs[row, t], output, atol=1e-5)
            expected = softmax(output @ (MEMORY[row] @ general).T, MASK[row])
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)


def test_luong_with_the_monotonic_window():
    # The whole pass uses all positions at once, and steps count them.
    cell = LuongDecoderCell(GRUCell(UNITS), Attention(DotScore(), LocalMonotonicWindow(1)))
    outputs, weights = unroll(build(cell))
    for row in range(BATCH):
        for t in range(TARGET_LENGTH):
            # A target that is longer than its source stays at the last source word.
            middle = min(t, MASK[row].sum() - 1)
            inside = MASK[row] & (np.abs(np.arange(LENGTH) - middle) <= 1)
            expected = softmax(MEMORY[row] @ np.asarray(outputs[row, t]), inside)
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)


def test_input_feeding_with_coverage():
    # s_t = LSTM([y; a_{t-1}], s_{t-1}); e_i = s_t^T (W h_i + w C_i); a_t = tanh(W_c [c; s_t]).
    cell = build(
        InputFeedingDecoderCell(
            LSTMCell(UNITS), Attention(GeneralScore(UNITS), coverage=Coverage())
        )
    )
    outputs, weights = unroll(cell)
    (kernel,) = cell.cell.get_weights()
    general = cell.attention.score.get_weights()[0] / np.sqrt(UNITS)
    (covering,) = cell.attention.coverage.get_weights()
    feeding, from_context, from_state = (
        layer.get_weights()[0]
        for layer in (cell.feeding_projection, cell.context_projection, cell.state_projection)
    )
    for row in range(BATCH):
        states, attentional = [state[row] for state in FIRST[:2]], np.zeros(UNITS)
        coverage = np.zeros(LENGTH)
        for t, x in enumerate(projected(cell, row)):
            output, states = lstm(x + attentional @ feeding, states, kernel)
            keys = MEMORY[row] @ general + coverage[:, None] * covering
            expected = softmax(keys @ output, MASK[row])
            attentional = np.tanh(expected @ MEMORY[row] @ from_context + output @ from_state)
            coverage = coverage + expected
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)
            np.testing.assert_allclose(outputs[row, t], attentional, atol=1e-5)


def test_bahdanau_with_coverage():
    # e_i = v^T tanh(W h_i + b + U s_{t-1} + w C_i).
    cell = build(BahdanauDecoderCell(GRUCell(UNITS), BahdanauAttention(7, Coverage())))
    outputs, weights = unroll(cell)
    (covering,) = cell.attention.coverage.get_weights()
    (from_context,) = cell.context_projection.get_weights()
    for row in range(BATCH):
        state, coverage = FIRST[0][row], np.zeros(LENGTH)
        for t, x in enumerate(projected(cell, row)):
            covered = coverage[:, None] * covering
            expected = additive(cell.attention.score, state, MEMORY[row], covered)
            expected = softmax(expected, MASK[row])
            context = expected @ MEMORY[row] @ from_context
            state, _ = gru(x + context, [state], *cell.cell.get_weights())
            coverage = coverage + expected
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)
            np.testing.assert_allclose(outputs[row, t], state, atol=1e-5)


def test_conditional():
    # s' = GRU(y, s_{t-1}); alpha = attention(s', h); s_t = GRU(b, GRU(C c + d, s')).
    cell = build(
        ConditionalDecoderCell(
            GRUCell(UNITS),
            TransitionCell([GRUCell(UNITS), GRUCell(UNITS)]),
            BahdanauAttention(7, Coverage()),
        )
    )
    outputs, weights = unroll(cell)
    (covering,) = cell.attention.coverage.get_weights()
    from_context, bias = cell.context_projection.get_weights()
    first, second, third = (one.get_weights() for one in (cell.cell, *cell.transition.cells))
    for row in range(BATCH):
        state, coverage = FIRST[0][row], np.zeros(LENGTH)
        for t, x in enumerate(projected(cell, row)):
            state, _ = gru(x, [state], *first)
            covered = coverage[:, None] * covering
            scores = additive(cell.attention.score, state, MEMORY[row], covered)
            expected = softmax(scores, MASK[row])
            coverage = coverage + expected
            state, _ = gru(expected @ MEMORY[row] @ from_context + bias, [state], *second)
            state, _ = gru(np.asarray(cell.transition.biases[0]), [state], *third)
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)
            np.testing.assert_allclose(outputs[row, t], state, atol=1e-5)


def test_conditional_with_states_of_other_sizes():
    message = r"states and masks of the same.*Received: state_size=\[4\], \[4, 4\]"
    with pytest.raises(ValueError, match=message):
        ConditionalDecoderCell(GRUCell(4), LSTMCell(4), BahdanauAttention(3))
    with pytest.raises(ValueError, match=r"state_size=\[4\], \[5\]"):
        TransitionCell([GRUCell(4), GRUCell(5)])
    with pytest.raises(ValueError, match=r"at least one recurrent cell. Received: cells=\[\]"):
        TransitionCell([])


def test_gated():
    # z_t = beta_t sum_i alpha_i a_i, beta_t = sigmoid(w s_{t-1} + b); s_t = LSTM(y + C z, s_{t-1}).
    cell = build(GatedDecoderCell(LSTMCell(UNITS), BahdanauAttention(7)))
    outputs, weights = unroll(cell)
    assert outputs.shape == (BATCH, TARGET_LENGTH, UNITS + 1)
    (kernel,) = cell.cell.get_weights()
    w_gate, b_gate = cell.gate.get_weights()
    (from_context,) = cell.context_projection.get_weights()
    for row in range(BATCH):
        states = [state[row] for state in FIRST[:2]]
        for t, x in enumerate(projected(cell, row)):
            scores = additive(cell.attention.score, states[0], MEMORY[row])
            expected = softmax(scores, MASK[row])
            gate = sigmoid(states[0] @ w_gate + b_gate)
            context = gate * (expected @ MEMORY[row])
            state, states = lstm(x + context @ from_context, states, kernel)
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)
            np.testing.assert_allclose(outputs[row, t], [*state, *gate], atol=1e-5)
            heard = cell.readout_inputs(outputs[row, t], expected @ MEMORY[row])
            np.testing.assert_allclose(heard[0], state, atol=1e-5)
            np.testing.assert_allclose(heard[1], context, atol=1e-5)
    assert 0 < outputs[..., -1].numpy().min() < outputs[..., -1].numpy().max() < 1


def test_history_with_coverage():
    # e_{t,j} = v^T tanh(W s_j + b + U s_{t-1}), j < t, beside Bahdanau's attention to the source.
    cell = build(
        HistoryDecoderCell(GRUCell(UNITS), BahdanauAttention(7, Coverage()), BahdanauAttention(5))
    )
    outputs, weights = unroll(cell)
    assert outputs.shape == (BATCH, TARGET_LENGTH, 2 * UNITS) and cell.output_units == 2 * UNITS

    (covering,) = cell.attention.coverage.get_weights()
    (from_context,) = cell.context_projection.get_weights()
    (from_history,) = cell.history_projection.get_weights()
    for row in range(BATCH):
        state, coverage, earlier = FIRST[0][row], np.zeros(LENGTH), []
        for t, x in enumerate(projected(cell, row)):
            covered = coverage[:, None] * covering
            scores = additive(cell.attention.score, state, MEMORY[row], covered)
            expected = softmax(scores, MASK[row])
            history = np.zeros(UNITS)
            if earlier:
                scores = additive(cell.history_attention.score, state, np.array(earlier))
                history = softmax(scores) @ np.array(earlier)
            x = x + expected @ MEMORY[row] @ from_context + history @ from_history
            state, _ = gru(x, [state], *cell.cell.get_weights())
            coverage = coverage + expected
            earlier.append(state)
            np.testing.assert_allclose(weights[row, t], expected, atol=1e-5)
            np.testing.assert_allclose(outputs[row, t], [*state, *history], atol=1e-5)
    # The first state is not in the history. The only state of the second word has the weight 1.
    np.testing.assert_array_equal(outputs[:, 0, UNITS:], np.zeros((BATCH, UNITS)))
    np.testing.assert_allclose(outputs[:, 1, UNITS:], outputs[:, 0, :UNITS], rtol=1e-5)


def history_cell():
    return HistoryDecoderCell(LSTMCell(UNITS), BahdanauAttention(7), Attention(DotScore()))


def test_history_has_no_room():
    cell = build(history_cell())
    memory = project(cell)
    states = cell.initial_state(FIRST[:2], memory)
    message = r"Expected a state with room .*steps=0.*encode\(inputs, steps=100\)"
    with pytest.raises(ValueError, match=message):
        cell.step(cell.project_inputs(EMBEDDED[:, 0]), states, memory)


def test_thought_vector_at_every_step():
    # s_t = GRU([y; c], s_{t-1}), c = s_0.
    cell = build(ThoughtVectorDecoderCell(GRUCell(UNITS)))
    outputs, weights = unroll(cell)
    assert weights is None
    (kernel,) = cell.context_projection.get_weights()
    for row in range(BATCH):
        state = FIRST[0][row]
        for t, x in enumerate(projected(cell, row)):
            state, _ = gru(x + FIRST[0][row] @ kernel, [state], *cell.cell.get_weights())
            np.testing.assert_allclose(outputs[row, t], state, atol=1e-5)


def test_thought_vector_in_the_first_state_only():
    # Two LSTM, the upper one with a residual: s2 = LSTM2(s1) and the output s1 + s2.
    cell = build(FirstStateDecoderCell(StackedCell([LSTMCell(UNITS), LSTMCell(UNITS)], True)))
    outputs, weights = unroll(cell)
    assert weights is None
    lower, upper = (part.get_weights()[0] for part in cell.cell.cells)
    (projection,) = cell.cell.input_projections
    kernel, bias = projection.get_weights()
    for row in range(BATCH):
        # The upper cell's states come first.
        above, below = ([state[row] for state in pair] for pair in (FIRST[:2], FIRST[2:]))
        for t, x in enumerate(projected(cell, row)):
            one, below = lstm(x, below, lower)
            two, above = lstm(one @ kernel + bias, above, upper)
            np.testing.assert_allclose(outputs[row, t], one + two, atol=1e-5)


class HalvedDecoderCell(BahdanauDecoderCell):
    """User-defined decoder cell, whose step uses the values in its own way."""

    def step(self, inputs, state, memory):
        context, weights = self.attention(state.cell[0], **memory)
        output, state = self.recur(inputs + 0.5 * context**2, state)
        return output, weights, state


class DoubledDecoderCell(BahdanauDecoderCell):
    """User-defined decoder cell, which attends in its own way."""

    def attend(self, query, state, memory):
        context, weights, state = super().attend(query, state, memory)
        return 2.0 * context, weights, state


CELLS = {
    "luong": lambda: LuongDecoderCell(
        StackedCell([SimpleRNNCell(UNITS), GRUCell(UNITS)]), Attention(DotScore())
    ),
    "feeding": lambda: InputFeedingDecoderCell(
        LSTMCell(UNITS),
        Attention(GeneralScore(UNITS), LocalMonotonicWindow(2), Coverage()),
    ),
    "bahdanau": lambda: BahdanauDecoderCell(SimpleRNNCell(UNITS), BahdanauAttention(7, Coverage())),
    "history": history_cell,
    "gated": lambda: GatedDecoderCell(LSTMCell(UNITS), BahdanauAttention(7)),
    "own step": lambda: HalvedDecoderCell(GRUCell(UNITS), BahdanauAttention(7)),
    "own attend": lambda: DoubledDecoderCell(GRUCell(UNITS), BahdanauAttention(7)),
    "thought": lambda: ThoughtVectorDecoderCell(LSTMCell(UNITS)),
    "context": lambda: ContextDecoderCell(
        GRUCell(UNITS), BahdanauAttention(7), BahdanauAttention(5)
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_hypotheses_equal_rows(name):
    cell = build(CELLS[name]())
    memory = project(cell)
    states = cell.initial_state(FIRST[: len(cell.cell.state_size)], memory, steps=4)
    inputs = cell.project_inputs(EMBEDDED)
    # Two steps from the same states, each with three words; then each alone.
    several = tree.map_structure(
        lambda state: np.repeat(np.asarray(state)[:, None], 3, axis=1), states
    )
    alone = [states] * 3
    for step in range(2):
        words = np.asarray(inputs)[:, 3 * step : 3 * step + 3]
        outputs, weights, several = cell.step(words, several, memory)
        for k in range(3):
            output, one, alone[k] = cell.step(words[:, k], alone[k], memory)
            np.testing.assert_allclose(outputs[:, k], output, atol=1e-5)
            if one is not None:
                np.testing.assert_allclose(weights[:, k], one, atol=1e-5)


@pytest.mark.parametrize("name", CELLS)
def test_gradients_of_a_whole_pass_match_its_steps(name):
    """Gradients of the memory, the inputs and all weights. Some are computed after the loop."""
    cell = build(CELLS[name]())
    loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    first = FIRST[: len(cell.cell.state_size)]
    factors = np.random.default_rng(2).normal(size=(2, TARGET_LENGTH, cell.output_units))

    def gradients(run):
        given = [ops.convert_to_tensor(MEMORY), ops.convert_to_tensor(EMBEDDED)]
        with tf.GradientTape() as tape:
            tape.watch(given)
            memory = project(cell, given[0])
            states = cell.initial_state(first, memory, steps=TARGET_LENGTH)
            outputs, weights = run(cell.project_inputs(given[1]), states, memory)
            loss = ops.sum(ops.tanh(outputs) * factors.astype("float32"))
            if weights is not None:
                loss = loss + ops.sum(ops.square(weights))
        weights = [weight.value for weight in cell.trainable_weights]
        found = tape.gradient(loss, [*given, *weights], unconnected_gradients="zero")
        return [tf.convert_to_tensor(gradient) for gradient in found]

    def by_steps(inputs, states, memory):
        made = []
        for t in range(TARGET_LENGTH):
            output, weights, states = cell.step(inputs[:, t], states, memory)
            made.append([output] if weights is None else [output, weights])
        outputs, *weights = (ops.stack(one, axis=1) for one in zip(*made, strict=True))
        return outputs, *(weights or [None])

    whole = gradients(lambda *arguments: cell.unroll(loop, *arguments))
    for one, other in zip(whole, gradients(by_steps), strict=True):
        scale = np.abs(other).max()
        np.testing.assert_allclose(one, other, atol=1e-5 * max(scale, 1.0))


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param("mixed_float16", marks=pytest.mark.thorough("another precision")),
        "mixed_bfloat16",
    ],
)
@pytest.mark.parametrize("name", CELLS)
def test_half_precision_is_finite_and_near(name, policy):
    expected, expected_weights = unroll(build(CELLS[name]()))
    with dtype_policy(policy):
        cell = build(CELLS[name]())
        loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    half = policy.removeprefix("mixed_")
    memory = project(cell, tf.cast(MEMORY, half))
    first = [tf.cast(state, half) for state in FIRST[: len(cell.cell.state_size)]]
    inputs = cell.project_inputs(tf.cast(EMBEDDED, half))
    outputs, weights = cell.unroll(loop, inputs, cell.initial_state(first, memory), memory)
    assert outputs.dtype == half
    assert np.isfinite(tf.cast(outputs, "float32")).all()
    # A coarse tolerance, because errors accumulate over steps.
    assert np.abs(tf.cast(outputs, "float32") - expected).mean() < 0.05
    if weights is not None:
        assert weights.dtype == "float32"
        assert np.isfinite(weights).all()
        assert np.abs(weights - expected_weights).mean() < 0.05


@pytest.mark.parametrize("name", ["window", "gaussian"])
def test_half_precision_counts_beyond_256(name):
    with dtype_policy("mixed_bfloat16"):
        window = Attention(DotScore(), LocalMonotonicWindow(1))
        attention = window if name == "window" else GaussianAttention(5)
        cell = InputFeedingDecoderCell(GRUCell(UNITS), attention)
        loop = keras.layers.RNN(cell.loop_cell(), return_sequences=True)
    cell.build((None, None, FEATURES), (None, None, UNITS))
    if name == "gaussian":  # then it moves by 1 with each word
        fill(attention.output_layer, scale=0.0)
    memory = tf.zeros((1, 300, UNITS), "bfloat16")
    memory = cell.project_memory(memory, tf.ones((1, 300), "bool"))
    state = cell.initial_state([tf.zeros((1, UNITS), "bfloat16")], memory)
    history = {key: value + 254 for key, value in state.attention.items()}
    inputs = cell.project_inputs(tf.zeros((1, TARGET_LENGTH, FEATURES), "bfloat16"))
    _, weights = cell.unroll(loop, inputs, state._replace(attention=history), memory)
    centres = np.sum(weights[0] * np.arange(300), axis=-1) / np.sum(weights[0], axis=-1)
    np.testing.assert_allclose(centres, 254 + np.arange(TARGET_LENGTH), atol=0.1)


def test_states_of_another_size():
    cell = build(FirstStateDecoderCell(LSTMCell(UNITS)))
    with pytest.raises(ValueError, match=r"sizes \[4, 4\].*LSTMCell. Received: sizes=\[4, 3\]"):
        cell.initial_state([FIRST[0], FIRST[1][:, :3]], {})


def test_coverage_by_hand():
    assert Coverage(0.0).loss_weight == 0.0  # the scores alone use the sums
    coverage = Coverage(2.0)
    coverage.build((None, None, 2))
    coverage.set_weights([np.array([1.0, -1.0])])
    keys = np.array([[[1.0, 2.0], [3.0, 4.0]]], "float32")
    spent = np.array([[0.5, 0.0]], "float32")
    np.testing.assert_allclose(coverage(keys, spent), [[[1.5, 1.5], [3.0, 4.0]]])
    np.testing.assert_allclose(
        coverage(keys, np.stack([spent, 2 * spent], axis=1)),
        [[[[1.5, 1.5], [3.0, 4.0]], [[2.0, 1.0], [3.0, 4.0]]]],
    )
    # Second word: min(0.6, 0.8) + min(0.4, 0.2); third: min(0.5, 1.4) + min(0.5, 0.6).
    weights = np.array([[[0.8, 0.2], [0.6, 0.4], [0.5, 0.5]]], "float32")
    real = np.array([[True, True, True]])
    np.testing.assert_allclose(coverage.loss(weights, real), 2 * (0.8 + 1.0) / 3, rtol=1e-6)
    real = np.array([[True, True, False]])
    np.testing.assert_allclose(coverage.loss(weights, real), 2 * 0.8 / 2, rtol=1e-6)
    assert coverage.loss(weights, np.zeros((1, 3), bool)) == 0.0


def test_doubly_stochastic_by_hand():
    # First target: sums 1.4 and 0.6 over two words; second: 0.3 and 0.7 in one; none in the third.
    weights = np.array(
        [[[0.8, 0.2], [0.6, 0.4]], [[0.3, 0.7], [0.5, 0.5]], [[0.5, 0.5]] * 2], "float32"
    )
    real = np.array([[True, True], [True, False], [False, False]])
    expected = 2 * (0.4**2 + 0.4**2 + 0.7**2 + 0.3**2) / 3
    np.testing.assert_allclose(DoublyStochastic(2.0).loss(weights, real), expected, rtol=1e-6)
    assert DoublyStochastic(2.0).loss(weights[:0], real[:0]) == 0

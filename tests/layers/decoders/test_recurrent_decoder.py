import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    BahdanauAttention,
    BahdanauDecoderCell,
    GRUCell,
    MaxoutReadout,
    RecurrentDecoder,
    TiedVocabularyProjection,
    VocabularyProjection,
)

# Sizes that are all distinct, so that a shape says what a tensor is.
VOCABULARY, EMBEDDING, UNITS, SCORE_UNITS, MEMORY_UNITS = 11, 3, 4, 5, 6
SOURCE = np.arange(7) < np.array([[7], [3]])
# Eagerly, in a graph, and compiled by XLA.
RUNS = [
    pytest.param(lambda function: function, id="eager"),
    pytest.param(
        tf.function(autograph=False),
        id="graph",
        marks=[pytest.mark.graph, pytest.mark.thorough("XLA compiles the same graph")],
    ),
    pytest.param(tf.function(autograph=False, jit_compile=True), id="xla", marks=pytest.mark.graph),
]
TARGET_IDS = np.array([[2, 5, 10, 6], [2, 4, 9, 0]], "int32")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def make(generator=None, readout_units=8, dropout=0.0, seed=0):
    decoder = RecurrentDecoder(
        embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        cell=BahdanauDecoderCell(GRUCell(UNITS), BahdanauAttention(SCORE_UNITS)),
        readout=MaxoutReadout(readout_units),
        generator=generator or VocabularyProjection(VOCABULARY),
        dropout=dropout,
    )
    decoder.build((None, None, MEMORY_UNITS))
    rng = np.random.default_rng(seed)
    for weight in decoder.weights:
        if not weight.path.endswith("seed_generator_state"):
            weight.assign(rng.normal(size=weight.shape))
    return decoder


def given(batch=2, length=7, seed=1):
    rng = np.random.default_rng(seed)
    memory = rng.normal(size=(batch, length, MEMORY_UNITS)).astype("float32")
    state = rng.normal(size=(batch, UNITS)).astype("float32")
    return memory, state


def run(decoder, target_ids, state, annotations, mask):
    memory = decoder.project_memory(annotations, mask)
    return decoder(target_ids, decoder.initial_state([state], memory), memory)


def numpy_decoder(decoder, target_ids, state, memory, mask):
    """Compute Bahdanau et al. (2015), section 3.1 and appendix A.2.2, for one sentence."""
    cell = decoder.cell
    score = cell.attention.score
    embeddings = decoder.embedding.get_weights()[0].astype("float64")
    w_memory, b_memory = score.memory_projection.get_weights()
    (w_query,) = score.query_projection.get_weights()
    energy = np.array(score.energy)[:, 0]
    w_input, b_input = cell.input_projection.get_weights()
    (w_context,) = cell.context_projection.get_weights()
    recurrent_kernel, recurrent_bias = cell.cell.get_weights()
    w_readout, b_readout = decoder.readout.projection.get_weights()
    kernel, bias = decoder.generator.get_weights()
    all_logits, all_weights = [], []
    for word in target_ids:
        y = embeddings[word]
        # The query of the attention is the previous state: c_t from s_{t-1}.
        energies = np.tanh(memory @ w_memory + b_memory + state @ w_query) @ energy
        exponentials = np.where(mask, np.exp(energies - energies[mask].max()), 0)
        weights = exponentials / exponentials.sum()
        context = weights @ memory
        x = np.split(y @ w_input + b_input + context @ w_context, 3)
        h = np.split(state @ recurrent_kernel + recurrent_bias, 3)
        z, r = sigmoid(x[0] + h[0]), sigmoid(x[1] + h[1])
        state = z * state + (1 - z) * np.tanh(x[2] + r * h[2])
        hidden = np.concatenate([y, state, context]) @ w_readout + b_readout
        features = hidden.reshape(2, -1).max(0)
        all_logits.append(features @ kernel + bias)
        all_weights.append(weights)
    return np.array(all_logits), np.array(all_weights)


def test_equals_the_transcription():
    decoder = make()
    memory, state = given()
    logits, records = run(decoder, TARGET_IDS, state, memory, SOURCE)
    weights = records["weights"]
    assert logits.shape == (2, 4, VOCABULARY) and weights.shape == (2, 4, 7)
    for row in range(2):
        expected_logits, expected_weights = numpy_decoder(
            decoder, TARGET_IDS[row], state[row], memory[row], SOURCE[row]
        )
        np.testing.assert_allclose(logits[row], expected_logits, atol=2e-5)
        np.testing.assert_allclose(weights[row], expected_weights, atol=1e-5)
    assert np.all(weights[1, :, 3:] == 0)
    np.testing.assert_allclose(np.sum(weights, -1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("compiled", RUNS)
def test_steps_equal_the_full_pass(compiled):
    decoder = make()
    memory, state = map(tf.constant, given())
    projected = decoder.project_memory(memory, tf.constant(SOURCE))
    full, step = compiled(decoder), compiled(decoder.step)
    logits, records = full(
        tf.constant(TARGET_IDS), decoder.initial_state([state], projected), projected
    )
    states = decoder.initial_state([state], projected)
    for t, ids in enumerate(tf.unstack(TARGET_IDS, axis=1)):
        step_logits, step_records, states = step(ids, states, projected)
        np.testing.assert_allclose(step_logits, logits[:, t], atol=1e-5)
        np.testing.assert_allclose(step_records["weights"], records["weights"][:, t], atol=1e-5)


def test_several_hypotheses_equal_one_by_one():
    decoder = make()
    memory, _ = given()
    projected = decoder.project_memory(memory, SOURCE)
    states = np.random.normal(size=(2, 3, UNITS)).astype("float32")
    ids = np.array([[4, 5, 6], [7, 7, 8]], "int32")
    logits, records, new_state = decoder.step(
        ids, decoder.initial_state([states], projected), projected
    )
    weights = records["weights"]
    assert logits.shape == (2, 3, VOCABULARY) and weights.shape == (2, 3, 7)
    for k in range(3):
        state = decoder.initial_state([states[:, k]], projected)
        one, one_records, one_state = decoder.step(ids[:, k], state, projected)
        np.testing.assert_allclose(logits[:, k], one, atol=1e-5)
        np.testing.assert_allclose(weights[:, k], one_records["weights"], atol=1e-5)
        np.testing.assert_allclose(new_state.cell[0][:, k], one_state.cell[0], atol=1e-5)


def test_words_to_come_change_nothing():
    decoder = make()
    memory, state = given()
    projected = decoder.project_memory(memory, SOURCE)
    logits, _ = decoder(TARGET_IDS, decoder.initial_state([state], projected), projected)
    other = TARGET_IDS.copy()
    other[:, 2:] = 7
    changed, _ = decoder(other, decoder.initial_state([state], projected), projected)
    np.testing.assert_allclose(changed[:, :2], logits[:, :2], atol=1e-6)
    assert np.abs(changed[:, 2:] - logits[:, 2:]).max() > 1e-2


def test_masked_memory_changes_nothing():
    decoder = make()
    memory, state = given()
    logits, _ = run(decoder, TARGET_IDS, state, memory, SOURCE)
    memory[1, 3:] = 1e3
    changed, _ = run(decoder, TARGET_IDS, state, memory, SOURCE)
    np.testing.assert_allclose(changed, logits, atol=1e-6)


def test_tied_generator_takes_the_embeddings():
    decoder = make(TiedVocabularyProjection(VOCABULARY), readout_units=EMBEDDING)
    memory, state = given()
    logits, _ = run(decoder, TARGET_IDS, state, memory, SOURCE)
    decoder.embedding.embeddings.assign_add(
        np.eye(VOCABULARY)[7][:, None] * np.ones((VOCABULARY, EMBEDDING))
    )
    changed, _ = run(decoder, TARGET_IDS, state, memory, SOURCE)
    logits, changed = np.asarray(logits), np.asarray(changed)
    others = np.arange(VOCABULARY) != 7
    # Id 7 is in no target, so its embedding affects only its logits.
    np.testing.assert_allclose(changed[..., others], logits[..., others], atol=1e-5)
    assert np.abs(changed[..., 7] - logits[..., 7]).max() > 1e-2


def test_dropout_only_in_training():
    decoder = make(dropout=0.5)
    memory, state = given()
    projected = decoder.project_memory(memory, SOURCE)
    plain, _ = decoder(TARGET_IDS, decoder.initial_state([state], projected), projected)
    np.testing.assert_array_equal(
        decoder(TARGET_IDS, decoder.initial_state([state], projected), projected)[0], plain
    )
    dropped, _ = decoder(
        TARGET_IDS, decoder.initial_state([state], projected), projected, training=True
    )
    assert np.abs(dropped - plain).max() > 1e-2


@pytest.mark.graph
def test_loop_keeps_no_copy_of_the_memory_for_each_step():
    """Check the ops and shapes that the loop stacks for its gradient.

    A tensor that a step does not change is stacked by reference, and takes no memory.
    """
    decoder = make()
    memory, state = given()

    @tf.function(autograph=False)
    def gradient(memory, state):
        with tf.GradientTape() as tape:
            tape.watch(memory)
            logits, _ = run(decoder, TARGET_IDS, state, memory, SOURCE)
            loss = tf.reduce_sum(logits**2)
        return tape.gradient(loss, memory)

    graph = gradient.get_concrete_function(tf.constant(memory), tf.constant(state)).graph
    (forward,) = (op for op in graph.get_operations() if op.type == "While")
    body = graph._get_function(forward.get_attr("body").name).graph
    pushes = [op.inputs[1] for op in body.get_operations() if op.type == "TensorListPushBack"]
    stacked = [(tensor.op.type, tuple(tensor.shape)) for tensor in pushes]
    assert not [shape for _, shape in stacked if None in shape]
    assert ("Tanh", (2, UNITS)) in stacked  # the candidates of the cell: the list is the right one

    large = [
        (made, shape)
        for made, shape in stacked
        # A reshape shares the memory of its input.
        if made != "Reshape" and np.prod(shape) >= SOURCE.size * min(SCORE_UNITS, MEMORY_UNITS)
    ]
    # A stopped gradient is its input, too.
    as_it_is = ("Placeholder", "ReadVariableOp", "StopGradient")
    made_by_a_step = [item for item in large if item[0] not in as_it_is]
    assert made_by_a_step == [("Tanh", (2, 7, SCORE_UNITS))]
    for tensor in pushes:
        if tensor.op.type == "Placeholder" and tensor.shape.rank == 3:
            left = body.outputs[[*map(id, body.inputs)].index(id(tensor))]
            assert left.op.type == "Identity" and left.op.inputs[0] is tensor


def test_config_of_every_part_makes_it_again():
    decoder = make(dropout=0.25)
    config = keras.saving.serialize_keras_object(decoder)
    copy = keras.saving.deserialize_keras_object(config)
    assert copy.get_config() == decoder.get_config()
    assert copy.dropout == 0.25
    copy.build((None, None, MEMORY_UNITS))
    copy.set_weights(decoder.get_weights())
    memory, state = given()
    results = [run(layer, TARGET_IDS, state, memory, SOURCE)[0] for layer in (decoder, copy)]
    np.testing.assert_array_equal(*results)


@pytest.mark.graph
@pytest.mark.parametrize(
    "jit_compile",
    [False, pytest.param(True, marks=pytest.mark.thorough("the steps are compiled by XLA"))],
)
def test_in_graph_with_unknown_shapes(jit_compile):
    decoder = make()
    memory, state = given()
    expected, _ = run(decoder, TARGET_IDS, state, memory, SOURCE)

    @tf.function(
        jit_compile=jit_compile,
        input_signature=[
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, UNITS]),
            tf.TensorSpec([None, None, MEMORY_UNITS]),
            tf.TensorSpec([None, None], tf.bool),
        ],
        autograph=False,
    )
    def forward(ids, state, memory, mask):
        return run(decoder, ids, state, memory, mask)[0]

    np.testing.assert_allclose(forward(TARGET_IDS, state, memory, SOURCE), expected, atol=1e-5)

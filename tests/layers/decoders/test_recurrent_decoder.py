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
from tests.numerics import additive, fill, gru, softmax

# Sizes that are all distinct, so that a shape says what a tensor is.
VOCABULARY, EMBEDDING, UNITS, SCORE_UNITS, MEMORY_UNITS = 11, 3, 4, 5, 6
SOURCE = np.arange(7) < np.array([[7], [3]])
TARGET_IDS = np.array([[2, 5, 10, 6], [2, 4, 9, 0]], "int32")


def make(generator=None, readout_units=8, dropout=0.0):
    decoder = RecurrentDecoder(
        embedding=keras.layers.Embedding(VOCABULARY, EMBEDDING),
        cell=BahdanauDecoderCell(GRUCell(UNITS), BahdanauAttention(SCORE_UNITS)),
        readout=MaxoutReadout(readout_units),
        generator=generator or VocabularyProjection(VOCABULARY),
        dropout=dropout,
    )
    decoder.build((None, None, MEMORY_UNITS))
    return fill(decoder)


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
    embeddings = decoder.embedding.get_weights()[0].astype("float64")
    w_input, b_input = cell.input_projection.get_weights()
    (w_context,) = cell.context_projection.get_weights()
    w_readout, b_readout = decoder.readout.projection.get_weights()
    kernel, bias = decoder.generator.get_weights()
    all_logits, all_weights = [], []
    for word in target_ids:
        y = embeddings[word]
        # The query of the attention is the previous state: c_t from s_{t-1}.
        weights = softmax(additive(cell.attention.score, state, memory), mask)
        context = weights @ memory
        x = y @ w_input + b_input + context @ w_context
        state, _ = gru(x, [state], *cell.cell.get_weights())
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

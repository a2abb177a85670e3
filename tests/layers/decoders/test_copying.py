"""Pointers, gates and mixtures, compared with NumPy and enumeration.

`test_every_decoder.py` tests the common properties of decoders.
"""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops, tree

from kerasnmt import layers, zoo
from kerasnmt.layers.decoders.copying import SourceWords, copied_log_probability, with_copies
from tests.layers.decoders.tiny_decoders import (
    POINTERS,
    SOURCE_IDS,
    TARGET_IDS,
    TARGETS,
    V,
    bahdanau,
    given,
    make,
    without_attention,
)

every = pytest.mark.parametrize("name", POINTERS)
# One decoder of each class is enough for a graph.
another = pytest.mark.thorough("another decoder of its class shows it")


def test_gates_by_hand():
    embedded, state, context = np.array([[1.0]]), np.array([[1.0, -2.0]]), np.array([[0.5, 3.0]])
    gate = layers.SoftmaxGate()
    gate.build((None, 1), (None, 2), (None, 2))
    gate.projection.set_weights([np.array([[1.0, 0.0], [0.25, -0.5]])])
    # The scores are 1 - 0.5 and 0 + 1.
    expected = np.exp([0.5, 1.0]) / np.exp([0.5, 1.0]).sum()
    np.testing.assert_allclose(np.exp(gate(embedded, state, context))[0], expected, rtol=1e-6)

    gate = layers.SigmoidGate()
    gate.build((None, 1), (None, 2), (None, 2))
    # Context, state, embedded: 0.5 * 2 + 3 * -1 + 1 * 1 - 2 * 0.5 + 1 * 3, and a bias of -0.5.
    gate.projection.set_weights([np.array([[2.0], [-1.0], [1.0], [0.5], [3.0]]), np.array([-0.5])])
    generate = 1 / (1 + np.exp(-0.5))
    expected = [generate, 1 - generate]
    np.testing.assert_allclose(np.exp(gate(embedded, state, context))[0], expected, rtol=1e-6)


@pytest.mark.parametrize("gate", [layers.SoftmaxGate, layers.SigmoidGate])
def test_gates_are_finite_at_their_ends(gate):
    gate = gate()
    gate.build((None, 1), (None, 1), (None, 1))
    gate.projection.set_weights([np.full(w.shape, 1.0) for w in gate.projection.get_weights()])
    if isinstance(gate, layers.SoftmaxGate):
        gate.projection.set_weights([np.array([[1.0, -1.0]])])
    for size in (1e4, -1e4):
        both = np.array(gate(np.array([[size]]), np.array([[size]]), np.array([[size]])))
        assert np.all(np.isfinite(both)) and np.max(both) == pytest.approx(0.0, abs=1e-6)


def test_mixture_by_hand():
    # Three words in the vocabulary; the source holds word 1 twice and word 3, which is outside.
    source_ids = np.array([[1, 3, 1, 2]], "int32")
    weights = np.array([[[0.1, 0.2, 0.3, 0.4]]], "float32")
    generated = np.log(np.array([[[0.5, 0.3, 0.2]]], "float32") * 0.75)
    mixed = np.exp(with_copies(generated, np.log(0.25), weights, SourceWords.of(source_ids)))
    expected = [0.375, 0.225 + 0.25 * 0.4, 0.15 + 0.25 * 0.4, 0.25 * 0.2, 0, 0, 0]
    np.testing.assert_allclose(mixed[0, 0], expected, rtol=1e-6)
    copied = copied_log_probability(weights.repeat(4, 1), source_ids, np.array([[1, 2, 3, 0]]))
    np.testing.assert_allclose(np.exp(copied)[0], [0.4, 0.4, 0.2, 0], rtol=1e-5)
    unlikely = copied_log_probability(
        np.zeros((1, 1, 4), "float32"), source_ids, source_ids[:, 1:2]
    )
    np.testing.assert_allclose(unlikely, [[np.log(1e-30)]], rtol=1e-6)


def test_no_column_is_written_twice():
    # Four words in the vocabulary; 4 and 5 are outside of it, and 0 is padding.
    source_ids = np.array([[4, 2, 4, 5, 4, 2], [3, 1, 3, 0, 0, 0]], "int32")
    columns = np.array(SourceWords.of(source_ids).columns)
    np.testing.assert_array_equal(columns, [[4, 2, -1, 5, -2, -3], [3, 1, -1, 0, -2, -3]])
    # These indices are outside the 10 columns of the extended vocabulary.
    assert [len({*(row % 10)}) for row in columns] == [6, 6]
    assert set(columns[0] % 10) == {2, 4, 5, 7, 8, 9}


def mixture(decoder, outputs):
    """Compute the distribution over V + 6 ids at every position, with loops."""
    pointer = np.array(outputs["pointer"], "float64")
    source_ids = np.array(outputs["words"].ids)
    batch, length, _ = pointer.shape
    distribution = np.zeros((batch, length, V + source_ids.shape[1]))
    gate = np.full((batch, length, 2), [0.0, 1.0])
    if "gate" in outputs:
        gate = np.exp(np.array(outputs["gate"], "float64"))
        logits = np.array(outputs["vocabulary"], "float64")
        distribution[..., :V] = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        distribution *= gate[..., :1]
    for row in range(batch):
        for t in range(length):
            for position, word in enumerate(source_ids[row]):
                distribution[row, t, word] += gate[row, t, 1] * pointer[row, t, position]
    return distribution


@every
def test_loss_and_search_equal_brute_force(name):
    decoder = make(name)
    outputs, records = decoder(TARGET_IDS, *given(decoder))
    expected = mixture(decoder, outputs)
    log_probability, *_ = decoder.log_probability(outputs, TARGETS)
    chosen = np.take_along_axis(expected, TARGETS[..., None], -1)[..., 0]
    real = TARGETS != 0
    np.testing.assert_allclose(np.exp(log_probability)[real], chosen[real], rtol=1e-4, atol=1e-12)
    following = np.array(decoder.next_log_probability(outputs))
    np.testing.assert_allclose(np.exp(following), expected, atol=1e-6)
    np.testing.assert_allclose(np.exp(following).sum(-1), 1.0, atol=1e-5)
    assert np.all(np.isfinite(following)) and np.all(following[1, :, 7:9] == -1e9)
    if "gate" in outputs:
        np.testing.assert_allclose(
            records["generate_probability"], np.exp(outputs["gate"])[..., 0], rtol=1e-6
        )
    # A separate pointer differs from the attention.
    assert np.allclose(records["weights"], outputs["pointer"]) == (name != "own pointer")


@every
def test_unknown_words_are_fed_back_as_the_unknown_word(name):
    decoder = make(name)
    states, memory = given(decoder)
    states = tree.map_structure(lambda state: ops.expand_dims(state, 1), states)
    copied, *_ = decoder.step(np.array([[8], [7]], "int32"), states, memory)
    unknown, *_ = decoder.step(np.array([[1], [1]], "int32"), states, memory)
    np.testing.assert_array_equal(
        decoder.next_log_probability(copied), decoder.next_log_probability(unknown)
    )


@every
def test_gradients_where_a_word_can_neither_be_generated_nor_copied(name):
    decoder = make(name)
    impossible = np.array([[9, 10, 11, 12], [7, 8, 10, 0]], "int32")
    with tf.GradientTape() as tape:
        outputs, _ = decoder(TARGET_IDS, *given(decoder))
        log_probability, mean, *_ = decoder.log_probability(outputs, impossible)
        total = ops.sum(log_probability) + ops.sum(mean)
    assert np.all(np.isfinite(log_probability)) and np.all(log_probability[:, :3] < -60)
    for gradient in tape.gradient(total, [w.value for w in decoder.trainable_weights]):
        if gradient is not None:
            assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))


def test_a_word_that_cannot_be_copied_is_learned_as_generated():
    """The gate does not learn to copy a word that is not in the source."""
    gate, vocabulary = tf.constant([[[-0.7, -0.7]]]), tf.constant([[[0.0, 75.0]]])
    decoder = make("shared, softmax")
    outputs = {"vocabulary": vocabulary, "gate": gate, "pointer": tf.constant([[[0.4, 0.6]]])}
    outputs["words"] = SourceWords.of(tf.constant([[5, 3]]))
    with tf.GradientTape() as tape:
        tape.watch([gate, vocabulary])
        log_probability, *_ = decoder.log_probability(outputs, tf.constant([[0]]))
    np.testing.assert_allclose(log_probability, [[-75.7]], rtol=1e-6)
    of_gate, of_logits = tape.gradient(log_probability, [gate, vocabulary])
    np.testing.assert_allclose(of_gate, [[[1.0, 0.0]]], atol=1e-6)
    np.testing.assert_allclose(of_logits, [[[1.0, -1.0]]], atol=1e-6)


@pytest.mark.graph
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("own pointer", "pointer network") else another)
        for name in POINTERS
    ],
)
def test_the_loss_makes_nothing_as_large_as_the_extended_vocabulary(name):
    decoder = make(name)
    wide = np.pad(SOURCE_IDS, ((0, 0), (0, 5)))  # a length that nothing else has
    states, memory = given(decoder, wide)

    @tf.function(autograph=False)
    def gradients():
        with tf.GradientTape() as tape:
            outputs, _ = decoder(tf.constant(TARGET_IDS), states, memory)
            loss = ops.sum(decoder.log_probability(outputs, tf.constant(TARGETS))[0])
        return tape.gradient(loss, [w.value for w in decoder.trainable_weights])

    operations = gradients.get_concrete_function().graph.get_operations()
    last = {shape[-1] for op in operations for out in op.outputs if (shape := out.shape).rank}
    assert 11 in last and V + 11 not in last


def test_mean_for_label_smoothing():
    decoder = make("shared, softmax")
    outputs, _ = decoder(TARGET_IDS, *given(decoder))
    _, mean, *_ = decoder.log_probability(outputs, TARGETS)
    logits = np.array(outputs["vocabulary"], "float64")
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    np.testing.assert_allclose(mean, log_p.mean(-1), rtol=1e-5)
    decoder = make("pointer network")
    outputs, _ = decoder(TARGET_IDS, *given(decoder))
    _, mean, *_ = decoder.log_probability(outputs, TARGETS)
    logs = np.log(np.array(outputs["pointer"])[1, :, :3])
    np.testing.assert_allclose(mean[1], logs.mean(-1), rtol=1e-5)


def test_label_smoothing_of_a_word_at_two_positions_by_hand():
    """Words 5, 6 and 5 have 0.1, 0.2 and 0.7, and the last position is padding."""
    decoder = zoo.pointer_network_lstm(9, embedding_dim=2, units=2).decoder
    words = SourceWords.of(np.array([[5, 6, 5, 0]], "int32"))
    outputs = {"pointer": np.array([[[0.1, 0.2, 0.7, 0.0]]], "float32"), "words": words}
    found = decoder.log_probability(outputs, np.array([[5]]))
    np.testing.assert_allclose(found.log, [[np.log(0.8)]], rtol=1e-6)
    expected = (2 * np.log(0.8) + np.log(0.2)) / 3
    np.testing.assert_allclose(found.mean, [[expected]], rtol=1e-6)


def test_the_penalty_of_a_separate_pointer():
    pointer = layers.BahdanauAttention(5, penalty=layers.DoublyStochastic(2.0))
    weights = np.array([[[0.8, 0.2], [0.6, 0.4]]], "float32")
    records = {"weights": 0 * weights, "pointer_weights": weights}
    for decoder in (bahdanau(), without_attention()):
        pointing = layers.PointerGeneratorDecoder(decoder, layers.SigmoidGate(), pointer)
        (loss,) = pointing.added_losses(records, np.array([[2, 5]]))
        np.testing.assert_allclose(loss, 2 * (0.4**2 + 0.4**2) / 2, rtol=1e-6)
        records = {"weights": weights}  # the pointer is the only attention

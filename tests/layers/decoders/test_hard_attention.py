"""Exact hard attention, compared with the sum over all alignments in NumPy."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerasnmt import layers, zoo
from kerasnmt.layers import Targets
from tests.layers.decoders.tiny_decoders import EMBEDDING, MEMORY, UNITS, V, hard
from tests.numerics import dtype_policy, fill, log_softmax, softmax

S, T, WIDTH = 4, 5, 2  # targets are longer than sources
ALIGNMENTS = {
    "independent": lambda: layers.IndependentAlignment(layers.GeneralScore(UNITS)),
    "monotonic": lambda: layers.MonotonicAlignment(layers.AdditiveScore(3)),
    "jumps": lambda: layers.JumpAlignment(WIDTH),
}
every = pytest.mark.parametrize("name", ALIGNMENTS)
RNG = np.random.default_rng(5)
ANNOTATIONS = RNG.normal(size=(2, S, MEMORY)).astype("float32")
STATES = RNG.normal(size=(2, 2, UNITS)).astype("float32")
LENGTHS = [S, 2]
MASK = np.arange(S) < np.array(LENGTHS)[:, None]
TARGETS = RNG.integers(3, V, (2, T)).astype("int32")
TARGET_IDS = np.insert(TARGETS[:, :-1], 0, 2, axis=1)


def make(name):
    decoder = hard(ALIGNMENTS[name]())
    decoder.build((None, None, MEMORY))
    return fill(decoder, seed=1)


def memory_and_state(decoder, annotations=ANNOTATIONS, mask=MASK, states=STATES):
    memory = decoder.project_memory(ops.convert_to_tensor(annotations), ops.convert_to_tensor(mask))
    state = decoder.initial_state([ops.convert_to_tensor(state) for state in states], memory)
    return memory, state


def run(decoder, target_ids=TARGET_IDS, targets=None, **of_source):
    memory, state = memory_and_state(decoder, **of_source)
    return decoder(target_ids, state, memory, targets=targets)


def states_of(decoder):
    memory, state = memory_and_state(decoder)
    (_, states, _), _ = decoder.run(TARGET_IDS, state, memory)
    return np.array(states, "float64")


def transitions(name, weights, states, annotations):
    """Return p(a_t = j | a_{t-1} = i) of one source, `[T, S, S]`, from the equations."""
    length = len(annotations)
    i, j = np.arange(length)[:, None], np.arange(length)[None]
    if name == "independent":
        (kernel,) = weights
        scores = states @ (annotations @ kernel / UNITS**0.5).T
        return softmax(scores[:, None], np.ones((length, length), bool))
    if name == "monotonic":
        w_query, energy, w_memory, bias = weights
        hidden = annotations @ w_memory + bias + (states @ w_query)[:, None]
        return softmax((np.tanh(hidden) @ energy)[:, None, :, 0], j >= i)
    w_memory, bias, w_state = weights
    jumps = (states @ w_state)[:, None] + annotations @ w_memory + bias
    scores = np.take_along_axis(jumps, np.clip(j - i, 0, WIDTH)[None], axis=-1)
    return softmax(scores, (j >= i) & (j - i <= WIDTH))


def enumerate_alignments(name, weights, states, annotations, targets):
    """Return p(y_1 ... y_t) of each prefix, and p(a_t = j | y_<t), from all alignments."""
    *alignment, readout, kernel, bias = weights
    length = len(annotations)
    transition = transitions(name, alignment, states, annotations)
    pairs = [[np.append(h, s) for h in annotations] for s in states]
    words = np.exp(log_softmax(np.tanh(np.array(pairs) @ readout) @ kernel + bias))
    prefixes, weights = np.zeros(len(targets)), np.zeros((len(targets), length))
    for t in range(len(targets)):
        for path in itertools.product(range(length), repeat=t + 1):
            probability = np.prod(
                [transition[k, i, j] for k, (i, j) in enumerate(itertools.pairwise((0, *path)))]
            )
            before = [words[k, j, targets[k]] for k, j in enumerate(path[:-1])]
            weights[t, path[-1]] += probability * np.prod(before)
            prefixes[t] += probability * np.prod(before) * words[t, path[-1], targets[t]]
    return prefixes, weights / weights.sum(-1, keepdims=True)


def weights_of(name, decoder):
    """Return the variables that `enumerate_alignments` reads, in its order."""
    alignment = decoder.alignment
    if name == "independent":
        own = [alignment.score.memory_projection.kernel]
    elif name == "monotonic":
        score = alignment.score
        own = [score.query_projection.kernel, score.energy]
        own += [score.memory_projection.kernel, score.memory_projection.bias]
    else:
        own = [alignment.memory_projection.kernel, alignment.memory_projection.bias]
        own += [alignment.state_projection.kernel]
    generator = decoder.generator
    return [*own, decoder.readout.projection.kernel, generator.kernel, generator.bias]


@every
def test_equals_the_sum_over_all_alignments(name):
    decoder = make(name)
    outputs, records = run(decoder)
    received = decoder.log_probability(outputs, TARGETS).log
    arrays = [np.array(weight, "float64") for weight in weights_of(name, decoder)]
    for row, (length, states) in enumerate(zip(LENGTHS, states_of(decoder), strict=True)):
        prefixes, weights = enumerate_alignments(
            name, arrays, states, ANNOTATIONS[row, :length], TARGETS[row]
        )
        np.testing.assert_allclose(np.cumsum(received[row]), np.log(prefixes), rtol=1e-5)
        np.testing.assert_allclose(records["weights"][row, :, :length], weights, atol=1e-5)
        assert not np.any(records["weights"][row, :, length:])
    # They are distributions over words, and over positions.
    np.testing.assert_allclose(np.exp(outputs).sum(-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(np.sum(records["weights"], -1), 1.0, atol=1e-5)
    # Padding before the source changes nothing, and neither does padding that no jump crosses.
    places = [0, 0] if name == "jumps" else [0, 0, 2]
    longer, real = np.insert(ANNOTATIONS, places, 5.0, 1), np.insert(MASK, places, False, 1)
    more, records = run(decoder, annotations=longer, mask=real)
    np.testing.assert_allclose(more, outputs, atol=1e-5)
    weights = np.array(records["weights"])
    assert not np.any(weights[~np.broadcast_to(real[:, None], weights.shape)])


@every
def test_gradients_equal_finite_differences(name):
    """Differences of the sum over all alignments, in float64."""
    decoder = make(name)
    variables = [weight.value for weight in weights_of(name, decoder)]
    annotations = tf.constant(ANNOTATIONS[:1])
    one = {"mask": MASK[:1], "states": STATES[:, :1]}
    with tf.GradientTape() as tape:
        tape.watch(annotations)
        targets = Targets.real(TARGETS[:1])
        outputs, _ = run(decoder, TARGET_IDS[:1], targets, annotations=annotations, **one)
        total = tf.reduce_sum(outputs.log)
    gradients = tape.gradient(total, [*variables, annotations])
    arrays = [np.array(weight, "float64") for weight in [*variables, annotations[0]]]
    states = states_of(decoder)[0]

    def log_marginal():
        *weights, memory = arrays
        return np.log(enumerate_alignments(name, weights, states, memory, TARGETS[0])[0][-1])

    rng, step = np.random.default_rng(0), 1e-5
    for array, gradient in zip(arrays, gradients, strict=True):
        flat, gradient = array.reshape(-1), np.array(gradient).reshape(-1)
        for index in rng.choice(flat.size, min(3, flat.size), replace=False):
            value = flat[index]
            flat[index] = value + step
            above = log_marginal()
            flat[index] = value - step
            below = log_marginal()
            flat[index] = value
            expected = (above - below) / (2 * step)
            np.testing.assert_allclose(gradient[index], expected, rtol=1e-3, atol=1e-5)


@every
@pytest.mark.parametrize("targets", [Targets, Targets.real])
def test_given_targets_equal_the_probabilities_of_all_words(name, targets):
    decoder = make(name)
    ids = np.where(np.arange(T) < [[T], [3]], TARGETS, 0)
    target_ids = np.where(ids, TARGET_IDS, 0)
    outputs, records = run(decoder, target_ids)
    expected = decoder.log_probability(outputs, ids)
    received, of_targets = run(decoder, target_ids, targets(ops.convert_to_tensor(ids)))
    for one, other in zip(received[:2], expected[:2], strict=True):
        np.testing.assert_allclose(one[0], other[0], atol=1e-5)
        np.testing.assert_allclose(one[1, :3], other[1, :3], atol=1e-5)
    for row, length in enumerate((T, 3)):
        np.testing.assert_allclose(
            of_targets["weights"][row, :length], records["weights"][row, :length], atol=1e-5
        )


@every
def test_monotonic_alignments_start_anywhere_and_never_go_back(name):
    alignment = ALIGNMENTS[name]()
    alignment.build((None, None, UNITS), (None, None, MEMORY))
    fill(alignment)
    keys = alignment.project(ops.convert_to_tensor(ANNOTATIONS))
    states = ops.convert_to_tensor(RNG.normal(size=(2, 1, UNITS)).astype("float32"))
    transition = alignment(states, keys, ops.convert_to_tensor(MASK))[:, 0]
    first = np.exp(alignment.predict(alignment.start(MASK), transition))
    assert np.all((first > 0) == (MASK & (np.arange(S) <= (WIDTH if name == "jumps" else S))))
    np.testing.assert_allclose(first.sum(-1), 1.0, atol=1e-6)
    if name != "independent":
        probability, jumps = np.exp(transition), np.arange(S) - np.arange(S)[:, None]
        real = MASK[..., None]
        assert not np.any(probability[real & (jumps < 0)])
        assert name == "monotonic" or not np.any(probability[real & (jumps > WIDTH)])
        np.testing.assert_allclose(probability.sum(-1)[MASK], 1.0, atol=1e-6)


@every
def test_a_source_of_one_word_or_none(name):
    decoder = make(name)
    outputs, records = run(decoder, annotations=ANNOTATIONS[:, :1], mask=MASK[:, :1])
    np.testing.assert_array_equal(records["weights"], np.ones((2, T, 1)))
    memory, state = memory_and_state(decoder)
    (embedded, states, _), _ = decoder.run(TARGET_IDS, state, memory)
    context = np.repeat(ANNOTATIONS[:, :1], T, axis=1)
    features = decoder.readout(embedded, states, ops.convert_to_tensor(context))
    np.testing.assert_allclose(outputs, ops.log_softmax(decoder.generator(features)), atol=1e-5)
    no_words = MASK & [[True], [False]]
    with tf.GradientTape() as tape:
        outputs, records = run(decoder, mask=no_words)
        total = tf.reduce_sum(decoder.log_probability(outputs, TARGETS).log)
    assert not np.any(records["weights"][1])
    np.testing.assert_allclose(np.exp(outputs).sum(-1), 1.0, atol=1e-5)
    for gradient in tape.gradient(total, [weight.value for weight in decoder.trainable_weights]):
        assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))


@pytest.mark.parametrize(
    "readout",
    [
        layers.AttentionalReadout(5),
        layers.ConcatReadout(),
        layers.DeepOutputReadout(),
        layers.MaxoutReadout(5),
        layers.TanhReadout(5),
    ],
    ids=lambda readout: type(readout).__name__,
)
def test_features_of_pairs(readout):
    shapes = [(None, None, size) for size in (EMBEDDING, UNITS, MEMORY)]
    readout.build(*shapes)
    fill(readout)
    words, states = (RNG.normal(size=(2, T, n)).astype("float32") for n in (EMBEDDING, UNITS))
    annotations = ops.convert_to_tensor(ANNOTATIONS)
    pairs = readout.pairs(
        ops.convert_to_tensor(words), ops.convert_to_tensor(states), readout.project(annotations)
    )
    assert pairs.shape == (2, T, S, readout.units)
    for t, i in itertools.product(range(T), range(S)):
        expected = readout(words[:, t], states[:, t], ANNOTATIONS[:, i])
        np.testing.assert_allclose(pairs[:, t, i], expected, atol=1e-6)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
@every
def test_half_precision_and_400_positions(name, policy):
    length, words = 400, 60
    rng = np.random.default_rng(1)
    with dtype_policy(policy):
        decoder = make(name)
        ids = rng.integers(3, V, (1, words)).astype("int32")
        source = {
            "annotations": rng.normal(size=(1, length, MEMORY)).astype("float32"),
            "mask": np.ones((1, length), bool),
            "states": STATES[:, :1],
        }
        with tf.GradientTape() as tape:
            outputs, records = run(decoder, ids, Targets.real(ids), **source)
            # Like the start of an optimizer that scales the loss.
            scaled = 2.0**15 * ops.mean(outputs.log)
        gradients = tape.gradient(scaled, [w.value for w in decoder.trainable_weights])
    assert outputs.log.dtype == "float32" and np.all(np.isfinite(outputs.log))
    assert np.all(np.array(outputs.log) > -30.0)
    np.testing.assert_allclose(np.sum(records["weights"], -1), 1.0, atol=1e-4)
    for gradient in gradients:
        assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))


@pytest.mark.parametrize(
    "cell",
    [
        layers.InputFeedingDecoderCell(layers.LSTMCell(4), layers.BahdanauAttention(5)),
        layers.BahdanauDecoderCell(layers.LSTMCell(4), layers.BahdanauAttention(5)),
    ],
    ids=lambda cell: type(cell).__name__,
)
def test_a_cell_that_reads_the_context_is_refused(cell):
    message = rf"only if the state does not depend on the alignment.*cell={type(cell).__name__}\."
    with pytest.raises(ValueError, match=message):
        layers.HardAttentionDecoder(
            keras.layers.Embedding(V, EMBEDDING),
            cell,
            layers.JumpAlignment(),
            layers.AttentionalReadout(5),
            layers.VocabularyProjection(V),
        )


def test_a_generator_with_entmax_is_refused():
    with pytest.raises(ValueError, match=r"a softmax, because .*normalizer='entmax15'"):
        layers.HardAttentionDecoder(
            keras.layers.Embedding(V, EMBEDDING),
            layers.FirstStateDecoderCell(layers.LSTMCell(UNITS)),
            layers.JumpAlignment(),
            layers.AttentionalReadout(5),
            layers.VocabularyProjection(V, normalizer="entmax15"),
        )
    model = zoo.hard_attention_lstm(V, embedding_dim=4, units=4)
    with pytest.raises(ValueError, match=r"the cross-entropy for hard attention.*'sparsemax'"):
        model.compile("adam", loss="sparsemax")
    model.compile("adam", loss="cross_entropy")


def test_positions_that_a_score_cannot_reach_have_no_words():
    for kind in (layers.IndependentAlignment, layers.MonotonicAlignment):
        decoder = hard(kind(layers.LocationScore(max_length=3)))
        decoder.build((None, None, MEMORY))
        outputs, records = run(fill(decoder))
        assert not np.any(records["weights"][:, :, 3:])
        np.testing.assert_allclose(np.exp(outputs).sum(-1), 1.0, atol=1e-5)
        weights = np.sum(records["weights"], -1)
        np.testing.assert_allclose(weights, 1.0, atol=1e-5)


def test_width():
    with pytest.raises(ValueError, match=r"Expected width >= 1. Received: width=0"):
        layers.JumpAlignment(0)

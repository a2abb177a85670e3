"""Log-probabilities of tokens, from logits and from features."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import Targets, VocabularyProjection, token_log_probability
from kerasnmt.speed.log_probability import projected_log_probability


def reference(logits, ids):
    """Return the log-probability and the mean in float64."""
    logits = np.asarray(logits, "float64")
    shifted = logits - logits.max(-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return np.take_along_axis(log_probabilities, ids[..., None], -1)[..., 0], (
        log_probabilities.mean(-1)
    )


def of_logits(logits, ids):
    return token_log_probability(logits, ids)


def of_features(logits, ids):
    """Return the log-probability and the mean, with the logits as features."""
    logits = tf.convert_to_tensor(logits)
    size, shape = logits.shape[-1], tf.shape(ids)
    identity, bias = tf.eye(size, dtype=logits.dtype), tf.zeros((size,), logits.dtype)
    rows, ids = tf.reshape(logits, (-1, size)), tf.reshape(ids, (-1,))
    made = projected_log_probability(rows, identity, bias, ids)
    return [tf.reshape(one, shape) for one in made]


both = pytest.mark.parametrize("function", [of_logits, of_features])


@both
def test_hand_computed(function):
    # Probabilities 1/8, 1/8, 1/4, 1/2, for any constant that is added to the logits.
    logits = np.log(np.array([[1, 1, 2, 4]], "float32")) + 7.0
    chosen, mean = function(logits, np.array([2]))
    np.testing.assert_allclose(chosen, [-2 * np.log(2)], rtol=1e-6)
    np.testing.assert_allclose(mean, [-(3 + 3 + 2 + 1) / 4 * np.log(2)], rtol=1e-6)


@both
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 1e4])
def test_equals_log_softmax(function, scale):
    rng = np.random.default_rng(0)
    logits = (scale * rng.uniform(-1, 1, size=(3, 5, 11))).astype("float32")
    ids = rng.integers(0, 11, size=(3, 5)).astype("int32")
    chosen, mean = function(logits, ids)
    expected_chosen, expected_mean = reference(logits, ids)
    # float32 holds numbers near 1e4 to 1e-3.
    tolerance = max(2e-6, 1e-7 * scale)
    np.testing.assert_allclose(chosen, expected_chosen, atol=tolerance, rtol=2e-6)
    np.testing.assert_allclose(mean, expected_mean, atol=tolerance, rtol=2e-6)


@both
def test_extreme_logits(function):
    logits = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [1e4, 1e4, -1e4]], "float32")
    ids = np.array([1, 2, 0])
    chosen, mean = function(logits, ids)
    np.testing.assert_allclose(chosen, [-2e4, -np.log(3), -np.log(2)], rtol=1e-6)
    np.testing.assert_allclose(mean[0], (-2e4 - 1e4) / 3, rtol=1e-6)
    np.testing.assert_allclose(mean[1], -np.log(3), atol=1e-3)


@both
def test_probability_near_one_loses_little(function):
    # log p of a nearly certain id is about -2e-6: not below 0 by rounding alone, not above 0.
    logits = np.array([[14.0, 0.0, 0.0]], "float32")
    chosen, _ = function(logits, np.array([0]))
    expected, _ = reference(logits, np.array([0]))
    assert float(chosen[0]) <= 0
    np.testing.assert_allclose(chosen, expected, atol=2e-6)


@pytest.mark.parametrize("scale", [1.0, 20.0, 1e3])
def test_gradients_of_a_projection_match_the_plain_formula(scale):
    rng = np.random.default_rng(1)
    features, kernel = rng.normal(size=(8, 3)), scale * rng.uniform(-1, 1, size=(3, 7))
    given = [tf.constant(x, tf.float32) for x in (features, kernel, rng.normal(size=(7,)))]
    ids = rng.integers(0, 7, size=(8,)).astype("int32")
    # Both gradients of a token have the same sign; of one token both are 0.
    one, two = rng.uniform(size=(2, 8)).astype("float32") * rng.choice([-1, 1], size=8)
    one[3] = two[3] = 0.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given)
        chosen, mean = projected_log_probability(*given, ids)
        loss = tf.reduce_sum(chosen * one + mean * two)
        plain = tf.nn.log_softmax(tf.matmul(*given[:2]) + given[2])
        plain_chosen = tf.gather(plain, ids, batch_dims=1)
        expected = tf.reduce_sum(plain_chosen * one + tf.reduce_mean(plain, -1) * two)
    for received, wanted in zip(
        tape.gradient(loss, given), tape.gradient(expected, given), strict=True
    ):
        np.testing.assert_allclose(received, wanted, atol=2e-6 * max(scale, 1.0), rtol=2e-5)


def test_ids_of_a_small_dtype():
    """A dtype of 256 numbers would count 300 tokens wrongly."""
    rng = np.random.default_rng(6)
    features, ids = tf.constant(rng.normal(size=(300, 5)), tf.float32), rng.integers(0, 5, 300)
    gradients = []
    for dtype in ("int32", "uint8"):
        with tf.GradientTape() as tape:
            tape.watch(features)
            chosen, _ = of_features(features, ids.astype(dtype))
        gradients.append(tape.gradient(chosen, features))
    np.testing.assert_array_equal(*gradients)


def test_gradient_equals_differences_of_the_value():
    rng = np.random.default_rng(2)
    logits, ids = rng.normal(size=(3, 5)), np.array([4, 0, 2])
    with tf.GradientTape() as tape:
        given = tf.constant(logits, tf.float32)
        tape.watch(given)
        chosen, mean = of_features(given, ids)
        loss = tf.reduce_sum(0.9 * chosen + 0.1 * mean)
    gradient = tape.gradient(loss, given).numpy()
    for place in np.ndindex(3, 5):
        values = []
        for step in (1e-5, -1e-5):
            moved = logits.copy()
            moved[place] += step
            one, all_of_them = reference(moved, ids)
            values.append((0.9 * one + 0.1 * all_of_them).sum())
        np.testing.assert_allclose(gradient[place], (values[0] - values[1]) / 2e-5, atol=1e-5)


@both
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_computed_in_float32(function, dtype):
    logits = tf.cast(np.random.default_rng(4).normal(size=(2, 300)) * 8, dtype)
    ids = np.array([7, 250])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        chosen, mean = function(logits, ids)
        loss = tf.reduce_sum(chosen)
    assert chosen.dtype == mean.dtype == tf.float32
    expected, expected_mean = reference(tf.cast(logits, "float32"), ids)
    np.testing.assert_allclose(chosen, expected, rtol=1e-5)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-5)
    assert tape.gradient(loss, logits).dtype == dtype


@both
@pytest.mark.graph
def test_in_a_compiled_graph_with_unknown_shape(function):
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(6, 6)).astype("float32")
    ids = rng.integers(0, 6, size=(6,)).astype("int32")

    @tf.function(
        input_signature=[tf.TensorSpec([None, 6], tf.float32), tf.TensorSpec([None], tf.int32)],
        jit_compile=True,
        autograph=False,
    )
    def value_and_gradient(logits, ids):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            chosen, _ = function(logits, ids)
            loss = tf.reduce_sum(chosen)
        return chosen, tape.gradient(loss, logits)

    chosen, gradient = value_and_gradient(logits, ids)
    np.testing.assert_allclose(chosen, reference(logits, ids)[0], rtol=1e-5)
    np.testing.assert_allclose(gradient, np.eye(6)[ids] - tf.nn.softmax(logits).numpy(), atol=1e-6)


def test_only_real_tokens_are_projected():
    """NaN features at padding are not read, and get no gradient."""
    rng = np.random.default_rng(5)
    ids = np.array([[3, 1, 0, 0], [2, 0, 0, 0], [4, 4, 4, 1]])
    features = rng.normal(size=(3, 4, 6)).astype("float32")
    generator = VocabularyProjection(5)
    logits = generator(features)
    spoilt = tf.constant(np.where((ids != 0)[..., None], features, np.nan))
    with tf.GradientTape() as tape:
        tape.watch(spoilt)
        found = generator(spoilt, targets=Targets.real(ids))
        loss = tf.reduce_sum(found.log + 0.1 * found.mean)
    gradient = tf.convert_to_tensor(tape.gradient(loss, spoilt)).numpy()
    expected = reference(logits, ids)
    for received, wanted in zip((found.log, found.mean), expected, strict=True):
        np.testing.assert_allclose(received, np.where(ids != 0, wanted, 0.0), atol=1e-5)
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(np.any(gradient, axis=-1), ids != 0)
    everywhere = generator(features, targets=Targets(ids))
    np.testing.assert_allclose(everywhere.log, expected[0], atol=1e-5)


def test_no_real_token():
    generator = VocabularyProjection(5)
    found = generator(keras.ops.ones((2, 3, 4)), targets=Targets.real(np.zeros((2, 3), "int32")))
    np.testing.assert_array_equal(found.log, np.zeros((2, 3)))
    np.testing.assert_array_equal(found.mean, np.zeros((2, 3)))

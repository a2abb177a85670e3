"""Normalizers, compared with values by hand, brute force and their definition."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    Attention,
    Entmax,
    Entmax15,
    LocalMonotonicWindow,
    MultiHeadAttention,
    MultiHeadSelfAttention,
    Normalizer,
    Softmax,
    Sparsemax,
)
from tests.layers.attention.on_any_backend import (
    MASK,
    NORMALIZERS,
    SCORES,
    UPSTREAM,
    gradient,
    normalized,
)
from tests.numerics import dtype_policy, fill
from tests.other_backend import assert_equal
from tests.runs import eager, graph, xla

EXACT = {name: {"atol": 1e-6} for name in NORMALIZERS}
SPARSE = [name for name in NORMALIZERS if name != "softmax"]


def random_scores(shape, seed=0):
    return np.random.default_rng(seed).normal(scale=2.0, size=shape).astype("float32")


def entmax(scores, alpha):
    """Compute entmax in float64 by bisection, from its definition."""
    scores = (alpha - 1) * np.asarray(scores, "float64")
    low = scores.max(-1, keepdims=True) - 1
    high = low + 1
    for _ in range(100):
        tau = (low + high) / 2
        inner = np.maximum(scores - tau, 0)
        total = np.sum(np.where(inner > 0, inner, 0) ** (1 / (alpha - 1)), -1, keepdims=True)
        low, high = np.where(total < 1, low, tau), np.where(total < 1, tau, high)
    return np.maximum(scores - tau, 0) ** (1 / (alpha - 1))


def nearest_in_simplex(scores):
    """Compute the projection to the simplex by trying every set of positive weights."""
    best = None
    for size in range(1, len(scores) + 1):
        for chosen in itertools.combinations(range(len(scores)), size):
            point = np.zeros(len(scores))
            some = scores[list(chosen)]
            point[list(chosen)] = some + (1 - some.sum()) / size
            if point.min() >= 0:
                distance = np.sum((point - scores) ** 2)
                best = min(best or (distance, point), (distance, point), key=lambda one: one[0])
    return best[1]


def test_sparsemax_by_hand():
    # tau = (0.5 + 0.1 - 1) / 2 = -0.2, and -1 is below it; 9 is masked.
    weights = Sparsemax()(SCORES[:1], MASK[:1])
    np.testing.assert_allclose(weights, [[0.7, 0.3, 0.0, 0.0]], atol=1e-7)


def test_entmax15_by_hand():
    # tau = 0, because 0.8^2 + 0.6^2 = 1.
    weights = Entmax15()(np.array([[1.2, 1.6, -0.1]], "float32"))
    np.testing.assert_allclose(weights, [[0.36, 0.64, 0.0]], atol=1e-6)
    assert np.asarray(weights)[0, 2] == 0.0  # exactly


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    scores = random_scores((40, 5))
    expected = [nearest_in_simplex(row) for row in scores.astype("float64")]
    np.testing.assert_allclose(Sparsemax()(scores), expected, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 30, 5000])
@pytest.mark.parametrize(
    ("layer", "alpha"),
    [(Entmax15(), 1.5), (Sparsemax(), 2.0), (Entmax(1.2), 1.2), (Entmax(1.5), 1.5), (Entmax(4), 4)],
)
def test_bisection_in_float64(layer, alpha, size):
    scores = random_scores((6, size), seed=size)
    np.testing.assert_allclose(layer(scores), entmax(scores, alpha), atol=2e-6)


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
def test_scores_of_many_scales(name):
    """Each step of Newton's method finds only the next of the scales, if there are more of each."""
    counts = [1, 30, 900, 9000]
    scores = -np.repeat([0.0, 1.2, 1.6, 1.9], counts)[None].astype("float32")
    weights = NORMALIZERS[name]()(scores)
    alpha = {"sparsemax": 2.0, "entmax15": 1.5}[name]
    np.testing.assert_allclose(weights, entmax(scores, alpha), atol=1e-6)
    np.testing.assert_allclose(np.sum(weights), 1, atol=1e-4)


def test_alpha_towards_1_is_softmax():
    scores = random_scores((3, 6))
    np.testing.assert_allclose(Entmax(1.001)(scores), Softmax()(scores), atol=2e-3)


def test_temperature_divides_the_scores():
    scores = random_scores((3, 6))
    for make in (Softmax, Sparsemax, Entmax15):
        np.testing.assert_allclose(
            make(temperature=0.25)(scores), make()(4 * scores), atol=1e-6, err_msg=make.__name__
        )


@pytest.mark.parametrize("run", [eager, graph, pytest.param(xla, marks=pytest.mark.graph)])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_mask(name, run):
    normalizer = NORMALIZERS[name]()
    weights = np.asarray(run(lambda scores: normalizer(scores, MASK))(tf.constant(SCORES)))
    np.testing.assert_array_equal(weights[~MASK], 0)  # exactly
    np.testing.assert_allclose(weights.sum(-1), [1, 1, 0], atol=2e-6)
    # Padding has no influence.
    np.testing.assert_allclose(weights[0, :3], normalizer(SCORES[:1, :3])[0], atol=1e-6)
    assert normalizer(SCORES[:, :0], MASK[:, :0]).shape == (3, 0)
    assert normalizer(SCORES[:0], MASK[:0]).shape == (0, 4)
    assert weights.dtype == "float32"


@pytest.mark.parametrize("run", [eager, pytest.param(xla, marks=pytest.mark.graph)])
@pytest.mark.parametrize("name", NORMALIZERS)
def test_gradient(name, run):
    """The gradient equals finite differences in float64. Masked rows have none."""
    normalizer = NORMALIZERS[name]()

    def loss(scores):
        return tf.reduce_sum(normalizer(scores, MASK) * UPSTREAM)

    found = gradient(run(loss), SCORES)
    np.testing.assert_array_equal(np.asarray(found)[~MASK], 0)
    alpha = getattr(normalizer, "alpha", 1 + 1e-6)
    temperature = normalizer.temperature
    for row, length in ((0, 3), (1, 4)):
        scores = SCORES[row, :length].astype("float64") / temperature
        for i in range(length):
            step = 1e-6 * np.eye(length)[i]
            difference = entmax(scores + step, alpha) - entmax(scores - step, alpha)
            expected = difference @ UPSTREAM[row, :length] / 2e-6 / temperature
            if name == "softmax":
                p = np.exp(scores) / np.exp(scores).sum()
                upstream = UPSTREAM[row, :length]
                expected = p[i] * (upstream[i] - p @ upstream)
            np.testing.assert_allclose(found[row][i], expected, atol=2e-5)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_extreme_scores(name):
    """Scores of impossible tokens, and half precision, give neither NaN nor infinity."""
    scores = np.array([[65504.0, -65504.0, 65504.0], [-1e9, -1e9, 0.0], [0.0, 1e-30, 0.0]])
    normalizer = NORMALIZERS[name]()
    mask = np.array([[True, True, True], [True, True, False], [True, False, True]])
    weights = normalizer(scores.astype("float32"), mask)
    np.testing.assert_allclose(weights, [[0.5, 0, 0.5], [0.5, 0.5, 0], [0.5, 0, 0.5]], atol=1e-6)
    found = gradient(lambda s: keras.ops.sum(normalizer(s, mask) ** 2), scores.astype("float32"))
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("name", SPARSE)
def test_long_sources_in_half_precision(name, dtype):
    rng = np.random.default_rng(0)
    memory, query = rng.normal(size=(2, 400, 8)), rng.normal(size=(2, 3, 8))
    with dtype_policy(dtype):
        attention = Attention("dot", normalizer=NORMALIZERS[name]())

        def loss(query):
            context, weights = attention(query, values=tf.constant(memory, "float32"))
            assert weights.dtype == "float32"
            return tf.reduce_sum(tf.cast(context, "float32") ** 2) + tf.reduce_sum(weights**2)

        found = gradient(loss, (0.3 * query).astype("float32"))
    assert np.all(np.isfinite(found))
    assert np.any(found)


def test_jax_gives_the_same(on_jax):
    assert_equal(normalized, run=on_jax, **EXACT)


@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax", "entmax15", Entmax(1.3)])
@pytest.mark.parametrize("window", [None, LocalMonotonicWindow(1)])
def test_attention(normalizer, window):
    """The weights of an attention are those of its scores, inside its window."""
    rng = np.random.default_rng(0)
    memory, query = (rng.normal(size=size).astype("float32") for size in ((2, 5, 4), (2, 3, 4)))
    mask = np.array([[True] * 5, [True, True, False, False, False]])
    attention = Attention("dot", window, normalizer=normalizer)
    context, weights = attention(query, values=memory, memory_mask=mask)
    visible = np.broadcast_to(mask[:, None], (2, 3, 5))
    if window is not None:
        inside, _ = window(query, memory, mask)
        visible = visible & np.asarray(inside)
    expected = attention.normalizer(np.einsum("btd,bnd->btn", query, memory), visible)
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    np.testing.assert_allclose(context, np.asarray(expected) @ memory, atol=1e-5)


def test_the_mask_of_the_query_is_not_that_of_the_memory():
    query = keras.layers.Embedding(9, 4, mask_zero=True)(np.array([[3, 4, 0]]))
    memory = random_scores((1, 3, 4))
    _, weights = Attention("dot", normalizer="sparsemax")(query, values=memory)
    expected = Sparsemax()(np.einsum("btd,bnd->btn", query, memory))
    np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_heads():
    """Each head normalizes its scores, also in a step over cached words."""
    for make in (MultiHeadAttention, MultiHeadSelfAttention):
        attention = make(8, 2, normalizer="sparsemax")
        words = random_scores((2, 5, 8))
        attention.build(*[words.shape] * (1 + (make is MultiHeadAttention)))
        fill(attention, scale=0.7)
        masks = {"memory_mask" if make is MultiHeadAttention else "mask": SCORES[:2, [0] * 5] > 0}
        arguments = [words] if make is MultiHeadSelfAttention else [words, words]
        _, weights = attention(*arguments, **masks)
        assert weights.shape == (2, 2, 5, 5)
        np.testing.assert_allclose(np.sum(weights, -1), 1, atol=1e-6)
        assert np.mean(np.asarray(weights) == 0) > 0.3


@pytest.mark.parametrize("normalizer", ["entmax15", Entmax(1.3, temperature=0.5)])
def test_config(normalizer):
    attention = Attention("dot", normalizer=normalizer)
    loaded = Attention.from_config(attention.get_config())
    assert type(loaded.normalizer) is type(attention.normalizer)
    assert loaded.normalizer.get_config() == attention.normalizer.get_config()


def test_a_config_without_normalizer_is_that_of_softmax():
    config = Attention("dot").get_config()
    del config["normalizer"]
    assert type(Attention.from_config(config).normalizer) is Softmax


class Uniform(Normalizer):
    def normalize(self, scores, mask):
        real = keras.ops.cast(mask, "float32")
        return real / keras.ops.sum(real, axis=-1, keepdims=True)


def test_own_normalizer():
    mask = np.array([[True, True, False]])
    attention = Attention("dot", normalizer=Uniform())
    _, weights = attention(np.ones((1, 2)), values=np.ones((1, 3, 2)), memory_mask=mask)
    np.testing.assert_array_equal(weights, [[0.5, 0.5, 0.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Attention("dot", normalizer="entmax"), "entmax15"),
        (lambda: Attention("dot", normalizer=1.5), "Expected a normalizer, such as .* or its name"),
        (
            lambda: Attention("dot", normalizer=keras.layers.Dense(3)),
            "Expected a normalizer.*Received: normalizer=<Dense.*subclass of Normalizer",
        ),
        (lambda: MultiHeadAttention(8, 2, normalizer="sparse"), "sparsemax"),
        (lambda: Entmax(1.0), "Expected alpha > 1"),
        (lambda: Entmax(10), "Expected alpha > 1, at most 4.*Received: alpha=10"),
        (lambda: Sparsemax(temperature=0.0), "Expected temperature > 0. Received: temperature=0.0"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("alpha", [1.0001, 3.0, 4.0])
def test_the_weights_of_any_alpha_sum_to_1(alpha):
    scores = np.random.default_rng(0).normal(size=(3, 1000)).astype("float32")
    np.testing.assert_allclose(np.sum(Entmax(alpha)(scores), axis=-1), 1.0, atol=1e-5)

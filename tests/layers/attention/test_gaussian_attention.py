import numpy as np
import pytest
from keras import ops

from kerasnmt.layers import GaussianAttention
from tests.numerics import fill, softmax

RNG = np.random.default_rng(4)
MEMORY = RNG.normal(size=(2, 6, 3)).astype("float32")
QUERIES = RNG.normal(size=(2, 3, 4)).astype("float32")
MASK = np.arange(6) < np.array([[6], [4]])


def build(**options):
    attention = GaussianAttention(5, **{"components": 2, **options})
    attention.build((None, 4), None, (None, None, 3))
    return attention


def softplus(x):
    return np.log1p(np.exp(x))


def test_the_equations_in_numpy():
    attention = fill(build(), seed=3, scale=0.7)
    w, b = attention.hidden_layer.get_weights()
    (v,) = attention.output_layer.get_weights()
    c = np.asarray(attention.bias)
    history = attention.initial_history(ops.convert_to_tensor(MASK))
    means = np.zeros((2, 2))
    for t in range(3):
        context, weights, history = attention(
            QUERIES[:, t], values=MEMORY, memory_mask=MASK, **history, return_history=True
        )
        shares, shifts, widths = np.split(np.tanh(QUERIES[:, t] @ w + b) @ v + c, 3, axis=-1)
        means = means + softplus(shifts)
        sigma = softplus(widths) + 0.5
        for row in range(2):
            expected = np.zeros(6)
            for k, share in enumerate(softmax(shares[row])):
                s, distance = sigma[row, k], np.arange(1, 7) - means[row, k]
                expected += share / (2 * np.pi) ** 0.5 / s * np.exp(-0.5 * (distance / s) ** 2)
            expected *= MASK[row]
            expected /= max(1.0, expected.sum())
            np.testing.assert_allclose(weights[row], expected, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(context[row], expected @ MEMORY[row], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(history["means"], means, rtol=1e-5)


def test_a_new_attention_moves_by_one_position_with_each_word():
    attention = build(width=2.0)
    attention.output_layer.set_weights([np.zeros((5, 6))])
    memory, mask = np.ones((1, 60, 3), "float32"), np.ones((1, 60), bool)
    history = attention.initial_history(ops.convert_to_tensor(mask))
    for t in range(1, 41):
        _, weights, history = attention(
            QUERIES[:1, 0], values=memory, memory_mask=mask, **history, return_history=True
        )
        np.testing.assert_allclose(history["means"], t, rtol=1e-5)
        assert np.argmax(weights[0]) == t - 1
    positions = np.arange(1, 61)
    assert np.sum(weights[0]) == pytest.approx(1.0, abs=1e-3)
    deviation = np.sqrt(np.sum(weights[0] * (positions - 40) ** 2))
    assert deviation == pytest.approx(2.0, rel=1e-2)


@pytest.mark.parametrize("mean", [3.0, 3.3, 3.5])
def test_narrow_gaussians_do_not_sum_to_more_than_1(mean):
    attention = build(width=0.51)
    attention.bias.assign([0.0, 0.0, -50.0, -50.0, -50.0, -50.0])
    _, weights = attention(
        0 * QUERIES[:1, 0], values=MEMORY[:1], means=np.full((1, 2), mean, "float32")
    )
    assert 0.98 < np.sum(weights) <= 1.0 + 1e-6 and np.max(weights) < 0.8


def test_hypotheses_equal_rows():
    attention = fill(build(), seed=3)
    means = RNG.uniform(1, 4, size=(2, 3, 2)).astype("float32")
    together = attention(QUERIES, values=MEMORY, memory_mask=MASK, means=means)
    for t in range(3):
        alone = attention(QUERIES[:, t], values=MEMORY, memory_mask=MASK, means=means[:, t])
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_allclose(one, other[:, t], atol=1e-6)


def test_padding_before_and_within_the_source_changes_nothing():
    attention, means = fill(build(), seed=3), np.full((2, 3, 2), 1.5, "float32")
    expected = attention(QUERIES, values=MEMORY, memory_mask=MASK, means=means)
    places = [0, 0, 2]
    longer, real = np.insert(MEMORY, places, 5.0, axis=1), np.insert(MASK, places, False, axis=1)
    context, weights = attention(QUERIES, values=longer, memory_mask=real, means=means)
    np.testing.assert_allclose(context, expected[0], atol=1e-6)
    kept = np.insert(np.ones(6, bool), places, False)
    np.testing.assert_allclose(weights.numpy()[:, :, kept], expected[1], atol=1e-6)


def test_what_does_not_fit():
    for options in ({"components": 0}, {"width": 0.5}):
        with pytest.raises(ValueError, match=r"Expected components >= 1 and width > 0\.5"):
            GaussianAttention(5, **options)
    with pytest.raises(ValueError, match=r"(?s)Expected values, and means.*means=None"):
        build()(QUERIES[:, 0], values=MEMORY)

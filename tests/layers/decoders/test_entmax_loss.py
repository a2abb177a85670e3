"""Entmax loss, and generators whose probabilities are those of entmax."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import (
    Entmax,
    Entmax15,
    PointerGeneratorDecoder,
    SigmoidGate,
    Sparsemax,
    Targets,
    VocabularyProjection,
    entmax_loss,
)
from kerasnmt.models import MemoryNetwork
from tests.layers.attention.on_any_backend import gradient, losses
from tests.layers.attention.test_normalizers import entmax
from tests.other_backend import assert_equal

LOGITS = np.array([[1.6, 1.2, -0.1]] * 3, "float32")
IDS = np.array([0, 1, 2], "int32")


def by_definition(logits, alpha):
    """Compute the loss of every id in float64: sum_i p_i (z_i - z_y) + H(p)."""
    p = entmax(logits, alpha)
    entropy = (1 - np.sum(p**alpha, -1, keepdims=True)) / (alpha * (alpha - 1))
    return np.sum(p * logits, -1, keepdims=True) - logits + entropy


def test_by_hand():
    # p = (0.64, 0.36, 0). H = (1 - 0.512 - 0.216) / 0.75; p (z - z_0) = -0.36 * 0.4, and so on.
    log, mean, gain = entmax_loss(Entmax15(), LOGITS, IDS)
    expected = 0.272 / 0.75 + np.array([-0.144, 0.256, 1.556])
    np.testing.assert_allclose(gain, -expected, rtol=1e-5)
    np.testing.assert_allclose(mean, [-expected.mean()] * 3, rtol=1e-5)
    np.testing.assert_allclose(log, [np.log(0.64), np.log(0.36), -1e9], rtol=1e-5)


def test_no_loss_beyond_the_margin():
    """The loss is exactly 0 if the logit is above the others by 1 / (alpha - 1)."""
    logits = np.array([[2.0, 0.0, -1.0]], "float32")
    for normalizer in (Entmax15(), Sparsemax()):
        log, _, gain = entmax_loss(normalizer, logits, np.array([0], "int32"))
        assert float(gain[0]) == float(log[0]) == 0.0


@pytest.mark.parametrize("normalizer", [Entmax15(), Sparsemax(), Entmax(1.2), Entmax(3.0)])
def test_definition_and_gradient(normalizer):
    """The gradient is p - y, smoothed, and equals finite differences of the definition."""
    logits = np.random.default_rng(1).normal(size=(4, 9)).astype("float32")
    ids, alpha = np.array([3, 0, 8, 8], "int32"), normalizer.alpha
    rows, epsilon = np.arange(4), 0.1

    def smoothed_by_definition(values):
        every = by_definition(values, alpha)
        return np.sum((1 - epsilon) * every[rows, ids] + epsilon * every.mean(-1))

    def smoothed(values):
        _, mean, gain = entmax_loss(normalizer, values, ids)
        return -tf.reduce_sum((1 - epsilon) * gain + epsilon * mean)

    expected = smoothed_by_definition(logits.astype("float64"))
    np.testing.assert_allclose(smoothed(logits), expected, rtol=1e-5)
    found = gradient(smoothed, logits)
    wanted = (1 - epsilon) * np.eye(9)[ids] + epsilon / 9
    np.testing.assert_allclose(found, entmax(logits, alpha) - wanted, atol=2e-6)
    step = np.zeros((4, 9))
    step[2, 5] = 1e-5
    difference = smoothed_by_definition(logits + step) - smoothed_by_definition(logits - step)
    np.testing.assert_allclose(found[2, 5], difference / 2e-5, atol=1e-5)


def test_jax_gives_the_same(on_jax):
    assert_equal(losses, run=on_jax)


@pytest.mark.parametrize("normalizer", ["entmax15", "sparsemax"])
def test_generator(normalizer):
    """The probabilities of given ids are those of all ids, with and without padding."""
    generator = VocabularyProjection(7, normalizer)
    generator.build((None, 4))
    features = 3 * np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    ids = np.array([[4, 5, 3], [6, 3, 0]], "int32")
    logits = generator(features)
    every = np.asarray(generator.next_log_probability(logits))
    alpha = {"entmax15": 1.5, "sparsemax": 2.0}[normalizer]
    expected = entmax(logits, alpha)
    np.testing.assert_allclose(np.exp(every), expected, atol=1e-6)
    np.testing.assert_array_equal(every[expected == 0], np.float32(-1e9))
    assert np.mean(expected == 0) > 0.2
    whole = generator.log_probability(logits, ids)
    for targets in (Targets(ids), Targets.real(ids)):
        found = generator(features, targets=targets)
        for one in ("log", "mean", "gain"):
            values = np.asarray(getattr(found, one))
            np.testing.assert_allclose(values[ids > 0], getattr(whole, one)[ids > 0], rtol=1e-5)
    chosen = np.take_along_axis(every, ids[..., None], -1)[..., 0]
    np.testing.assert_allclose(whole.log, chosen, rtol=1e-5)
    # An empty batch, and a batch of padding.
    assert generator(features[:0], targets=Targets(ids[:0])).log.shape == (0, 3)
    assert generator(features, targets=Targets.real(0 * ids)).log.shape == (2, 3)


def test_errors(make_pointer_model):
    with pytest.raises(ValueError, match="entmax15"):
        VocabularyProjection(7, "entmax")
    decoder = make_pointer_model(seed=1).decoder.decoder
    config = decoder.get_config()
    config["generator"]["config"]["normalizer"] = "entmax15"
    sparse = type(decoder).from_config(config)
    with pytest.raises(ValueError, match=r"Expected a generator with the softmax.*'entmax15'"):
        PointerGeneratorDecoder(sparse, SigmoidGate())
    with pytest.raises(ValueError, match=r"Expected a generator with the softmax.*'sparsemax'"):
        MemoryNetwork(keras.layers.Layer(), VocabularyProjection(7, "sparsemax"))

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import ByteDropout

ONES = np.ones((40, 30, 50), "float32")


@pytest.mark.parametrize(
    ("rate", "dropped"), [(0.5, 128), (0.3, 77), (0.1, 26), (0.999, 255), (0.001, 1)]
)
def test_share_and_size(rate, dropped):
    """The rate is a multiple of 1/256, and kept values are scaled by 1 / (1 - rate)."""
    received = np.array(ByteDropout(rate, seed=1)(ONES, training=True))
    share = dropped / 256
    np.testing.assert_allclose(np.unique(received), [0, 1 / (1 - share)], rtol=1e-6)
    # The bound is four standard deviations of the share.
    deviation = 4 * (share * (1 - share) / ONES.size) ** 0.5
    assert np.mean(received == 0) == pytest.approx(share, abs=deviation)


def test_each_feature_on_its_own():
    """Features are dropped independently, whether adjacent, 4 apart or 128 apart."""
    layer = ByteDropout(0.5, seed=2)
    kept = np.array(layer(ONES, training=True)).ravel() > 0
    for distance in (1, 2, 3, 4, 128):
        both = np.mean(kept[distance:] & kept[:-distance])
        assert both == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / kept.size) ** 0.5)
    again = np.array(layer(ONES, training=True)).ravel() > 0  # other numbers in each call
    assert np.mean(kept & again) == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / kept.size) ** 0.5)


def test_gradient_and_seed():
    inputs = tf.constant(np.random.default_rng(0).normal(size=(3, 5)), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = ByteDropout(0.5, seed=3)(inputs, training=True)
        loss = tf.reduce_sum(outputs)
    gradient = tape.gradient(loss, inputs)
    np.testing.assert_allclose(outputs, inputs * gradient, rtol=1e-6)
    assert {*np.unique(gradient)} == {0.0, 2.0}
    same = ByteDropout(0.5, seed=3)(inputs, training=True)
    np.testing.assert_array_equal(same, outputs)


@pytest.mark.parametrize(("rate", "training"), [(0.5, False), (0.0, True)])
def test_nothing_is_dropped(rate, training):
    np.testing.assert_array_equal(ByteDropout(rate)(ONES, training=training), ONES)


def test_half_precision_and_no_features():
    received = ByteDropout(0.5, dtype="mixed_bfloat16")(ONES, training=True)
    assert received.dtype == "bfloat16" and {*np.unique(np.array(received, "float32"))} == {0, 2}
    assert ByteDropout(0.5)(np.ones((0, 4)), training=True).shape == (0, 4)


@pytest.mark.graph
@pytest.mark.parametrize("jit_compile", [False, True])
def test_in_a_graph(jit_compile):
    layer = ByteDropout(0.5)
    signature = [tf.TensorSpec([None, 30, None])] if not jit_compile else None

    @tf.function(input_signature=signature, jit_compile=jit_compile, autograph=False)
    def run(inputs):
        return layer(inputs, training=True)

    one, other = (np.array(run(tf.constant(ONES))) for _ in range(2))
    assert {*np.unique(one)} == {0, 2} and np.mean(one != other) > 0.4

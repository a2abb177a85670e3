import numpy as np
import pytest
import tensorflow as tf
from keras import tree

from kerasnmt.layers import TimeCache

STEPS = np.random.default_rng(0).normal(size=(3, 2, 4)).astype("float32")  # [step, batch, size]


def test_steps_stand_one_after_the_other():
    cache = TimeCache.allocate(STEPS[0], 5)
    assert cache.values.shape == (2, 5, 4) and cache.mask.shape == (2, 5)
    assert not np.any(cache.values) and not np.any(cache.mask)
    for count, values in enumerate(STEPS, start=1):
        cache = cache.write(values)
        assert cache.length.numpy().tolist() == [count, count]
        np.testing.assert_array_equal(cache.mask, [[place < count for place in range(5)]] * 2)
    np.testing.assert_array_equal(cache.values[:, :3], STEPS.swapaxes(0, 1))
    assert not np.any(cache.values[:, 3:])


def test_structures_with_hypotheses_and_heads():
    rng = np.random.default_rng(1)
    keys = rng.normal(size=(2, 3, 4)).astype("float32")  # batch, heads, size
    half = rng.normal(size=(2, 5)).astype("float16")
    cache = TimeCache.allocate({"keys": keys, "half": half}, 2)
    assert cache.values["half"].dtype == "float16"
    cache = tree.map_structure(lambda value: np.repeat(np.array(value)[:, None], 6, 1), cache)
    values = {
        "keys": rng.normal(size=(2, 6, 3, 4)).astype("float32"),
        "half": rng.normal(size=(2, 6, 5)).astype("float16"),
    }
    cache = cache.write(values)
    assert cache.values["keys"].shape == (2, 6, 3, 2, 4)
    assert cache.values["half"].dtype == "float16"
    for name, value in values.items():
        np.testing.assert_array_equal(cache.values[name][..., 0, :], value)
        assert not np.any(cache.values[name][..., 1, :])
    assert cache.mask.shape == (2, 6, 2)


def test_beyond_the_last_place_nothing_is_written():
    cache = TimeCache.allocate(STEPS[0], 2)
    for values in STEPS:
        cache = cache.write(values)
    np.testing.assert_array_equal(cache.values, STEPS[:2].swapaxes(0, 1))
    assert np.all(cache.mask)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_as_numbers(dtype):
    # `keras.layers.RNN` casts all states like this. bfloat16 cannot count beyond 256.
    cache = TimeCache.allocate(np.ones((1, 1), dtype), 300)
    cache = cache._replace(written=tf.cast(cache.written, dtype))
    for _ in range(270):
        cache = cache.write(np.ones((1, 1), dtype))
    assert cache.written.dtype == dtype
    assert cache.mask.dtype == "bool" and cache.length.numpy().tolist() == [270]
    np.testing.assert_array_equal(cache.mask, [np.arange(300) < 270])
    np.testing.assert_array_equal(tf.cast(cache.values[..., 0], "bool"), cache.mask)


@pytest.mark.graph
@pytest.mark.parametrize("jit_compile", [False, True])
def test_in_a_loop(jit_compile):
    @tf.function(jit_compile=jit_compile, autograph=False)
    def run(steps):
        cache = TimeCache.allocate(steps[0], 5)
        body = lambda time, cache: (time + 1, cache.write(steps[time]))  # noqa: E731
        return tf.while_loop(lambda time, _: time < 3, body, (0, cache))[1]

    cache = run(tf.constant(STEPS))
    np.testing.assert_array_equal(cache.values[:, :3], STEPS.swapaxes(0, 1))
    assert not np.any(cache.values[:, 3:])


def test_another_room():
    cache = TimeCache.allocate({"keys": STEPS[0], "heads": STEPS[0][:, None]}, 5)
    for values in STEPS[:2]:
        cache = cache.write({"keys": values, "heads": values[:, None]})
    for steps in (2, 4, 7):
        resized = cache.resized(steps)
        assert resized.room == steps and resized.values["heads"].shape == (2, 1, steps, 4)
        np.testing.assert_array_equal(resized.mask, [[place < 2 for place in range(steps)]] * 2)
        for name in ("keys", "heads"):
            kept, expected = resized.values[name], cache.values[name][..., :2, :]
            np.testing.assert_array_equal(kept[..., :2, :], expected)
            assert not np.any(kept[..., 2:, :])
    # Less than what is written.
    np.testing.assert_array_equal(cache.resized(1).values["keys"], STEPS[0][:, None])

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.runs import xla
from tests.zoo.tiny_models import example, make


def losses(model, batch, steps=4, **options):
    """Return the losses of some steps on one batch."""
    inputs, targets, weights = batch
    model.compile(keras.optimizers.Adam(0.05), **options)
    data = tf.data.Dataset.from_tensors((inputs, targets, weights))
    history = model.fit(data, epochs=steps, verbose=0).history
    assert np.isfinite(history["perplexity"]).all()
    return np.array(history["loss"])


@pytest.fixture
def policy():
    yield keras.config.set_dtype_policy
    keras.config.set_dtype_policy("float32")


@pytest.mark.graph
@pytest.mark.thorough("compiles training; tests/training trains in graphs")
@pytest.mark.parametrize("jit_compile", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        *("bahdanau_gru", "dense_scorer_gru", "history_attention_gru"),
        *("context_attention_gru", "transformer_tiny"),
    ],
)
def test_sizes_that_are_unknown_when_it_is_traced(name, jit_compile):
    """Batches of texts have unknown sizes, with which `tf.tensordot` has no gradient in a loop."""
    ids = tf.TensorSpec((None, None), tf.int32)
    batch = inputs, _ = example(make(name))
    batches = tf.data.Dataset.from_generator(
        lambda: [batch], output_signature=(dict.fromkeys(inputs, ids), ids)
    )
    received = []
    for how in ({"jit_compile": jit_compile}, {"run_eagerly": True}):
        model = make(name)
        model.compile(keras.optimizers.SGD(1.0), **how)
        assert model.jit_compile is how.get("jit_compile", False)
        received.append(model.fit(batches, epochs=3, verbose=0).history["loss"])
    np.testing.assert_allclose(*received, rtol=1e-4)


@pytest.mark.graph
@pytest.mark.thorough("compiles training and search twice")
def test_file_under_xla(make_model, batch, tmp_path):
    """A compiled model trains and searches like an eager model, also after it is loaded."""
    model, eager = (make_model(seed=5, scale=0.8) for _ in range(2))
    expected = losses(eager, batch, run_eagerly=True)
    np.testing.assert_allclose(losses(model, batch, jit_compile=True), expected, rtol=1e-3)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert copy.jit_compile is True
    for beam_size in (1, 3):
        options = {"beam_size": beam_size, "n_best": beam_size, "max_length": 7}
        source_ids = tf.constant(batch[0]["source_ids"])
        expected = model.search(source_ids, with_records=True, **options)
        search = functools.partial(copy.search, with_records=True, **options)
        found = xla(search)(source_ids)
        np.testing.assert_array_equal(found.ids, expected.ids)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-4)
        np.testing.assert_allclose(found.records["weights"], expected.records["weights"], atol=1e-5)
    data = tf.data.Dataset.from_tensors(batch)
    more = [m.fit(data, verbose=0).history["loss"] for m in (model, copy)]
    np.testing.assert_allclose(more[0], more[1], rtol=1e-6)


@pytest.mark.parametrize(
    "jit_compile", [False, pytest.param(True, marks=pytest.mark.thorough("compiles training"))]
)
@pytest.mark.parametrize(
    "name",
    [
        "mixed_bfloat16",
        pytest.param("mixed_float16", marks=pytest.mark.thorough("bfloat16 shows it")),
    ],
)
def test_mixed_precision(make_model, batch, policy, tmp_path, name, jit_compile):
    policy(name)
    model = make_model(scale=0.3)
    how = {"jit_compile": True} if jit_compile else {"run_eagerly": True}
    received = losses(model, batch, steps=3, label_smoothing=0.1, **how)
    assert np.isfinite(received).all()
    assert received[-1] < received[0]
    assert {weight.dtype for weight in model.weights} == {"float32"}
    inputs, source_ids = batch[0], batch[0]["source_ids"]
    logits = model(inputs)
    assert logits.dtype == name.removeprefix("mixed_")
    found = model.search(source_ids, beam_size=3, max_length=5, with_records=True)
    assert found.scores.dtype == found.records["weights"].dtype == tf.float32
    # A model keeps its precision under any dtype policy.
    model.save(tmp_path / "model.keras")
    policy("float32")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert copy(inputs).dtype == logits.dtype
    np.testing.assert_array_equal(tf.cast(copy(inputs), "float32"), tf.cast(logits, "float32"))


@pytest.mark.thorough("`test_mixed_precision` trains")
def test_mixed_precision_is_near_full_precision(make_model, batch, policy):
    expected = make_model(scale=0.3)(batch[0])
    policy("mixed_bfloat16")
    received = tf.cast(make_model(scale=0.3)(batch[0]), "float32")
    np.testing.assert_allclose(received, expected, atol=0.05)
    assert np.abs(received - expected).max() > 1e-5  # half precision was at work

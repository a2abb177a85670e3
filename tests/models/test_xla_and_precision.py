import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo


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
@pytest.mark.thorough("compiles training, as the test below of sizes that are unknown does")
def test_training_under_xla(make_model, batch):
    compiled = make_model(scale=0.3)
    received = losses(compiled, batch, jit_compile=True)
    assert compiled.jit_compile is True  # Keras disables it if a layer does not support it
    expected = losses(make_model(scale=0.3), batch, jit_compile=False)
    assert np.isfinite(received).all()
    assert received[-1] < 0.8 * received[0]
    np.testing.assert_allclose(received[0], expected[0], rtol=1e-5)
    np.testing.assert_allclose(received, expected, rtol=1e-3)


@pytest.mark.graph
@pytest.mark.parametrize(
    "jit_compile",
    [True, pytest.param(False, marks=pytest.mark.thorough("tests/training trains in graphs"))],
)
@pytest.mark.parametrize(
    "name",
    [
        "bahdanau_gru",
        pytest.param("dense_scorer_gru", marks=pytest.mark.thorough("another model shows it")),
        pytest.param("history_attention_gru", marks=pytest.mark.thorough("another model shows it")),
    ],
)
def test_sizes_that_are_unknown_when_it_is_traced(name, jit_compile):
    """Batches of texts have unknown sizes, with which `tf.tensordot` has no gradient in a loop."""
    source_ids = np.array([[5, 6, 4, 3], [7, 3, 0, 0]], "int32")
    target_ids = np.array([[2, 6, 5], [2, 4, 0]], "int32")
    targets = np.array([[6, 5, 3], [4, 3, 0]], "int32")
    inputs = {"source_ids": source_ids, "target_ids": target_ids}
    ids = tf.TensorSpec((None, None), tf.int32)
    batches = tf.data.Dataset.from_generator(
        lambda: [(inputs, targets)], output_signature=(dict.fromkeys(inputs, ids), ids)
    )
    received = []
    for how in ({"jit_compile": jit_compile}, {"run_eagerly": True}):
        keras.utils.set_random_seed(1)
        model = zoo.get_model(name)(8, units=3, embedding_dim=3, dropout=0.0)
        model.compile(keras.optimizers.SGD(1.0), **how)
        assert model.jit_compile is how.get("jit_compile", False)
        received.append(model.fit(batches, epochs=3, verbose=0).history["loss"])
    np.testing.assert_allclose(*received, rtol=1e-4)


@pytest.mark.graph
@pytest.mark.thorough("tests/decoding searches under XLA, tests/zoo makes steps under it")
@pytest.mark.parametrize("beam_size", [1, 3])
def test_search_under_xla(make_model, batch, beam_size):
    model = make_model(seed=5, scale=0.8)

    def search(source_ids):
        return model.search(
            source_ids, beam_size=beam_size, n_best=beam_size, max_length=7, with_records=True
        )

    source_ids = tf.constant(batch[0]["source_ids"])
    expected = search(source_ids)
    found = tf.function(search, jit_compile=True, autograph=False)(source_ids)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-4)
    np.testing.assert_allclose(found.records["weights"], expected.records["weights"], atol=1e-5)


@pytest.mark.graph
@pytest.mark.thorough("compiles training and search twice")
def test_file_under_xla(make_model, batch, tmp_path):
    """A loaded and compiled model searches like the saved model."""
    model = make_model(seed=5, scale=0.8)
    losses(model, batch, jit_compile=True)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert copy.jit_compile is True

    def search(model):
        function = tf.function(
            lambda ids: model.search(ids, beam_size=3, n_best=3, max_length=7),
            jit_compile=True,
            autograph=False,
        )
        return function(tf.constant(batch[0]["source_ids"]))

    found, expected = search(copy), search(model)
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
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


def test_mixed_precision_is_near_full_precision(make_model, batch, policy):
    expected = make_model(scale=0.3)(batch[0])
    policy("mixed_bfloat16")
    received = tf.cast(make_model(scale=0.3)(batch[0]), "float32")
    np.testing.assert_allclose(received, expected, atol=0.05)
    assert np.abs(received - expected).max() > 1e-5  # half precision was at work

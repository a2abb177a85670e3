import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.models.scheduled_sampling import mixed_inputs
from tests.numerics import fill

ALWAYS = 1 - 1e-7  # the largest uniform number below 1 is 1 - 2^-24, or 1 - 2^-23
LATE = keras.optimizers.schedules.PiecewiseConstantDecay([1, 3], [0.0, 0.5, ALWAYS])


@pytest.fixture
def short():
    """Two short pairs, for training with many steps."""
    inputs = {
        "source_ids": np.array([[5, 3], [6, 3]], "int32"),
        "target_ids": np.array([[2, 12, 5], [2, 4, 9]], "int32"),
    }
    targets = np.array([[12, 5, 3], [4, 9, 3]], "int32")
    return inputs, targets, np.ones((2, 3), "float32")


def fed(model, inputs, drawn):
    """Return the inputs with the model's predictions where they are drawn, computed simply."""
    predicted = np.argmax(model(inputs), axis=-1)
    vocabulary_size = model.decoder.embedding.input_dim
    mixed = mixed_inputs(inputs["target_ids"], predicted, drawn, vocabulary_size)
    return {**inputs, "target_ids": np.asarray(mixed)}


def drawn_next(model, shape):
    """Return the uniform random numbers of the next batch."""
    generator = keras.random.SeedGenerator(0)
    generator.state.assign(model.sampling_generator.state)
    return keras.random.uniform(shape, seed=generator).numpy()


@pytest.mark.graph
@pytest.mark.thorough("traces a graph; other models are without it")
def test_off_it_is_not_there(make_model, batch):
    inputs, _, _ = batch
    model = make_model()
    model.compile("sgd")
    assert model.scheduled_sampling == 0.0
    graph = (
        tf.function(lambda: model(inputs, training=True), autograph=False)
        .get_concrete_function()
        .graph
    )
    kinds = [operation.type for operation in graph.get_operations()]
    assert not [kind for kind in kinds if "Random" in kind or kind == "ArgMax"]
    assert sum("While" in kind for kind in kinds) == 3  # two readings and one decoding
    np.testing.assert_array_equal(model(inputs, training=True), model(inputs))


def test_nearly_always(make_model, batch):
    inputs, _, _ = batch
    model = make_model(seed=3)
    model.compile("sgd", scheduled_sampling=ALWAYS)
    everywhere = fed(model, inputs, np.ones((3, 4), bool))
    assert np.any(everywhere["target_ids"] != inputs["target_ids"])
    np.testing.assert_allclose(model(inputs, training=True), model(everywhere), atol=1e-5)
    # In training only.
    assert np.abs(model(inputs) - model(everywhere)).max() > 0.1


def test_the_gradient_comes_from_the_second_pass(make_model, batch):
    inputs, targets, weights = batch
    model = make_model(seed=3)
    model.compile("sgd", scheduled_sampling=0.6, label_smoothing=0.1)

    def gradients(inputs, training):
        with tf.GradientTape() as tape:
            loss = model.compute_loss(inputs, targets, model(inputs, training=training), weights)
        found = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
        return float(loss), [tf.convert_to_tensor(gradient).numpy() for gradient in found]

    mixed = fed(model, inputs, drawn_next(model, (3, 4)) < 0.6)
    changed = mixed["target_ids"] != inputs["target_ids"]
    assert changed.any() and not changed.all()
    loss, received = gradients(inputs, True)
    expected_loss, expected = gradients(mixed, False)
    assert loss == pytest.approx(expected_loss, rel=1e-6)
    for one, other in zip(received, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


ways = pytest.mark.parametrize(
    "how",
    [
        {"run_eagerly": True},
        pytest.param(
            {"jit_compile": True},
            marks=[pytest.mark.graph, pytest.mark.thorough("compiles training")],
        ),
    ],
)


@ways
def test_a_schedule_of_the_optimizers_steps(make_model, short, how):
    inputs, targets, weights = short
    model = make_model(seed=3)
    data = tf.data.Dataset.from_tensors(short)
    nothing = keras.optimizers.SGD(0.0)  # the weights stay, so that the losses tell the inputs

    def loss_of(inputs):
        return float(model.compute_loss(inputs, targets, model(inputs), weights))

    model.compile(nothing, scheduled_sampling=LATE, **how)
    plain, always = loss_of(inputs), loss_of(fed(model, inputs, np.ones((2, 3), bool)))
    assert abs(always - plain) > 0.01
    losses = model.fit(data, epochs=6, verbose=0).history["loss"]
    np.testing.assert_allclose(losses[:2], plain, rtol=1e-5)  # steps 0 and 1
    np.testing.assert_allclose(losses[4:], always, rtol=1e-5)  # steps 4 and 5


@pytest.mark.thorough("a schedule within one `fit` shows it")
@ways
def test_a_schedule_goes_on(make_model, short, tmp_path, how):
    """Another `fit` continues from the optimizer, and so does a loaded model."""
    model = make_model(seed=3)
    data = tf.data.Dataset.from_tensors(short)
    model.compile(keras.optimizers.SGD(0.0), scheduled_sampling=LATE, **how)
    losses = model.fit(data, epochs=6, verbose=0).history["loss"]
    plain, always = losses[0], losses[5]
    assert abs(always - plain) > 0.01
    np.testing.assert_allclose(model.fit(data, verbose=0).history["loss"], always, rtol=1e-5)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    assert copy.scheduled_sampling.get_config() == LATE.get_config()
    np.testing.assert_allclose(copy.fit(data, verbose=0).history["loss"], always, rtol=1e-5)
    # A new optimizer starts from 0.
    model.compile(keras.optimizers.SGD(0.0), scheduled_sampling=LATE, run_eagerly=True)
    np.testing.assert_allclose(model.fit(data, verbose=0).history["loss"], plain, rtol=1e-5)


@pytest.mark.thorough("nine epochs; a schedule without accumulation shows it")
def test_accumulated_gradients_are_one_step(make_model, short):
    inputs, targets, weights = short
    model = make_model(seed=3)
    optimizer = keras.optimizers.SGD(0.0, gradient_accumulation_steps=2)
    model.compile(optimizer, scheduled_sampling=LATE, run_eagerly=True)
    plain = float(model.compute_loss(inputs, targets, model(inputs), weights))
    data = tf.data.Dataset.from_tensors(short)
    losses = model.fit(data, epochs=9, verbose=0).history["loss"]
    np.testing.assert_allclose(losses[:4], plain, rtol=1e-5)  # steps 0 and 1, twice each
    assert abs(losses[8] - plain) > 0.01


@pytest.mark.thorough("accumulates gradients; a schedule without them shows it")
def test_training_resumes_between_two_updates(make_model, short):
    """With accumulated gradients, the steps of the optimizer do not give the number of batches."""
    model = make_model(seed=3)
    optimizer = keras.optimizers.SGD(0.0, gradient_accumulation_steps=2)
    model.compile(optimizer, scheduled_sampling=0.3, run_eagerly=True)
    data = tf.data.Dataset.from_tensors(short)
    model.fit(data.repeat(3), epochs=1, verbose=0)
    assert int(model.sampling_generator.state[1]) == 3
    model.fit(data, epochs=1, verbose=0)
    assert int(model.sampling_generator.state[1]) == 4
    model.sampling_generator.state.assign([1, 0])  # as in a model that was compiled anew
    model.fit(data, epochs=1, verbose=0)
    assert int(model.sampling_generator.state[1]) == 5


@pytest.mark.thorough("a further optimizer")
def test_updates_that_float16_leaves_out(make_model, short):
    """The next `fit` continues to count batches, including those whose update was skipped."""
    model = make_model(seed=3)
    inner = keras.optimizers.SGD(0.0, gradient_accumulation_steps=2)
    optimizer = keras.optimizers.LossScaleOptimizer(inner)
    model.compile(optimizer, scheduled_sampling=0.3, run_eagerly=True)
    data = tf.data.Dataset.from_tensors(short)
    for batches in (3, 4):
        model.fit(data if batches == 4 else data.repeat(3), epochs=1, verbose=0)
        assert int(model.sampling_generator.state[1]) == batches
    model.sampling_generator.state.assign([1, 9])  # five of them changed nothing
    model.fit(data, epochs=1, verbose=0)
    assert int(model.sampling_generator.state[1]) == 10


@pytest.mark.thorough("trains three models; the schedule shows the steps")
def test_the_same_step_draws_the_same(make_model, short):
    data = tf.data.Dataset.from_tensors(short)

    def losses(epochs):
        keras.utils.set_random_seed(5)
        model = make_model(seed=3)
        model.compile(keras.optimizers.SGD(0.0), scheduled_sampling=0.5, run_eagerly=True)
        return [
            loss
            for count in epochs
            for loss in model.fit(data, epochs=count, verbose=0).history["loss"]
        ]

    in_one = losses([4])
    assert len(set(in_one)) > 2
    np.testing.assert_allclose(losses([1, 3]), in_one, rtol=1e-6)


def test_constant_through_a_file(make_model, tmp_path):
    model = make_model()
    model.compile("adam", scheduled_sampling=0.25)
    model.save(tmp_path / "model.keras")
    assert keras.saving.load_model(tmp_path / "model.keras").scheduled_sampling == 0.25


@pytest.mark.thorough("test_mixed_inputs.py shows the ids")
@pytest.mark.parametrize("name", ["pointer_generator_lstm", "pointer_network_lstm"])
def test_copied_words_become_unknown(name):
    model = zoo.get_model(name)(13, embedding_dim=6, units=5, dropout=0.0)
    fill(model, seed=4)
    # No word of this source is in the vocabulary. Copied words have the ids 13, 14 or 15.
    inputs = {
        "source_ids": np.array([[1, 1, 1]], "int32"),
        "extended_source_ids": np.array([[13, 14, 15]], "int32"),
        "target_ids": np.array([[2, 5, 6, 0]], "int32"),
    }
    if name == "pointer_generator_lstm":  # it always copies
        model.decoder.gate.projection.bias.assign([-50.0])
    model.compile("sgd", scheduled_sampling=ALWAYS, run_eagerly=True)
    mixed = {**inputs, "target_ids": np.array([[2, 1, 1, 0]], "int32")}
    received, expected = (
        model.decoder.next_log_probability(outputs)
        for outputs in (model(inputs, training=True), model(mixed))
    )
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-5)
    targets = np.array([[13, 6, 3, 0]], "int32")
    history = model.fit(inputs, targets, epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()


@pytest.mark.parametrize("probability", [-0.1, 1.0, 3])
def test_no_probability(model, probability):
    with pytest.raises(ValueError, match=rf"0 <= scheduled_sampling < 1.*sampling={probability}"):
        model.compile(scheduled_sampling=probability)

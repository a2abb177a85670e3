"""Losses and metrics of Seq2Seq models."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.models import Perplexity
from kerasnmt.models.losses import guided_attention_loss, token_weights
from kerasnmt.zoo import (
    bahdanau_gru,
    memory_network,
    pointer_generator_gru,
    show_attend_tell_lstm,
)
from tests.numerics import log_softmax
from tests.runs import eager, graph, xla

another = pytest.mark.thorough("other options show it")


def test_loss_by_hand(make_model):
    model = make_model()
    model.compile(label_smoothing=0.0)
    # Every position has the probabilities 1/8, 1/8, 1/4, 1/2; real are a 2, a 3 and a 1: 2 + 1 + 3
    # bits over three tokens. Over the padded size of six it would be half of that.
    logits = np.broadcast_to(np.log([1.0, 1.0, 2.0, 4.0]), (2, 3, 4)).astype("float32")
    targets = np.array([[2, 3, 0], [1, 0, 0]])
    weights = (targets != 0).astype("float32")
    bits = float(model.compute_loss(y=targets, y_pred=logits, sample_weight=weights)) / np.log(2)
    np.testing.assert_allclose(bits, 2.0, rtol=1e-6)
    # Without weights padding is left out all the same; a weight counts in numerator and divisor.
    np.testing.assert_allclose(
        float(model.compute_loss(y=targets, y_pred=logits)), 2.0 * np.log(2), rtol=1e-6
    )
    small = 0.01 * weights
    bits = float(model.compute_loss(y=targets, y_pred=logits, sample_weight=small)) / np.log(2)
    np.testing.assert_allclose(bits, 2.0, rtol=1e-6)
    weights = np.array([[3.0, 1.0, 1.0], [0.0, 1.0, 1.0]], "float32")
    bits = float(model.compute_loss(y=targets, y_pred=logits, sample_weight=weights)) / np.log(2)
    np.testing.assert_allclose(bits, (3 * 2 + 1) / 4, rtol=1e-6)


def test_label_smoothing_equals_the_one_hot_formula(make_model, batch):
    inputs, targets, weights = batch
    model = make_model()
    logits = model(inputs)
    for smoothing in (0.0, 0.1, 0.7):
        model.compile(label_smoothing=smoothing)
        wanted = (1 - smoothing) * np.eye(13)[targets] + smoothing / 13
        per_token = -(wanted * log_softmax(logits)).sum(-1)
        expected = (per_token * weights).sum() / 9  # tokens
        loss = model.compute_loss(y=targets, y_pred=logits, sample_weight=weights)
        np.testing.assert_allclose(float(loss), expected, rtol=1e-5)


def test_batch_of_padding_alone_has_loss_0(model):
    zeros = np.zeros((2, 3), "int32")
    logits = np.ones((2, 3, 13), "float32")
    assert float(model.compute_loss(y=zeros, y_pred=logits, sample_weight=1.0 * zeros)) == 0.0


def test_smoothing_out_of_range(make_model):
    with pytest.raises(ValueError, match=r"0 <= label_smoothing < 1.*label_smoothing=1\.0"):
        make_model().compile(label_smoothing=1.0)


def test_a_loss_of_ones_own(make_model, batch):
    inputs, targets, weights = batch
    model = make_model()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss)
    logits = model(inputs)
    own = np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]
    received = model.compute_loss(inputs, targets, logits, weights)
    np.testing.assert_allclose(float(received), -own[targets != 0].mean(), rtol=1e-5)


@pytest.mark.usefixtures("eagerly")
def test_metrics_of_ones_own(make_model, batch):
    """User-defined metrics get logits and their mask, also after a `compile` that keeps them."""
    inputs, targets, weights = batch
    model = make_model()
    guessed = np.argmax(model(inputs), axis=-1)
    expected = np.mean((guessed == targets)[targets != 0])  # Keras does not weight `metrics`.
    plain = make_model()
    plain.compile("sgd")
    other = plain.evaluate(inputs, targets, sample_weight=weights, verbose=0, return_dict=True)
    model.compile("sgd", metrics=["sparse_categorical_accuracy"])
    for _ in range(2):
        found = model.evaluate(inputs, targets, sample_weight=weights, verbose=0, return_dict=True)
        np.testing.assert_allclose(found["sparse_categorical_accuracy"], expected, rtol=1e-6)
        for name in ("loss", "perplexity"):
            np.testing.assert_allclose(found[name], other[name], rtol=1e-5)
        model.compile("sgd")


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("options", [{}, pytest.param({"tie_embeddings": True}, marks=another)])
def test_a_step_of_fit_follows_the_gradient_of_the_logits(make_model, batch, options):
    """`fit` computes only the probabilities of real tokens, not all logits."""
    inputs, targets, weights = batch
    weights = weights * np.array([[0.5], [1.0], [2.0]], "float32")
    model = make_model(**options)
    model.compile(keras.optimizers.SGD(1.0), label_smoothing=0.2)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(inputs, targets, model(inputs), weights)
    variables = [weight.value for weight in model.trainable_weights]
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
    before = [np.array(weight) for weight in model.trainable_weights]
    history = model.fit(inputs, targets, sample_weight=weights, verbose=0, shuffle=False)
    np.testing.assert_allclose(history.history["loss"][0], float(loss), rtol=1e-5)
    for weight, old, gradient in zip(model.trainable_weights, before, gradients, strict=True):
        np.testing.assert_allclose(weight, old - gradient, atol=1e-5, err_msg=weight.path)


@pytest.mark.usefixtures("eagerly")
def test_a_compute_loss_of_ones_own_gets_logits(make_model, batch):
    inputs, targets, weights = batch
    model, seen = make_model(), []

    class Own(type(model)):
        def compute_loss(self, x=None, y=None, y_pred=None, *arguments, **options):
            seen.append(y_pred.shape[-1])
            return super().compute_loss(x, y, y_pred, *arguments, **options)

    own = Own.from_config(model.get_config())
    own.compile("sgd")
    own.evaluate(inputs, targets, sample_weight=weights, verbose=0)
    assert set(seen) == {13}


def test_regularisation_is_added(make_model, batch):
    inputs, targets, weights = batch
    model = make_model()
    plain = model.compute_loss(y=targets, y_pred=model(inputs), sample_weight=weights)
    model.bridge.projections[0].kernel.regularizer = keras.regularizers.L2(0.5)
    kernel = model.bridge.projections[0].get_weights()[0]
    loss = model.compute_loss(y=targets, y_pred=model(inputs), sample_weight=weights)
    np.testing.assert_allclose(float(loss - plain), 0.5 * (kernel**2).sum(), rtol=1e-4)


def padded(batch):
    """Return the same batch with columns and rows of padding."""
    inputs, targets, weights = batch
    inputs = {
        "source_ids": np.pad(inputs["source_ids"], ((0, 2), (0, 3))),
        "target_ids": np.pad(inputs["target_ids"], ((0, 2), (0, 2))),
    }
    return inputs, np.pad(targets, ((0, 2), (0, 2))), np.pad(weights, ((0, 2), (0, 2)))


@pytest.mark.parametrize(
    "decorate",
    [
        eager,
        *(
            pytest.param(
                run, marks=[pytest.mark.graph, pytest.mark.thorough("others trace training")]
            )
            for run in (graph, xla)
        ),
    ],
)
def test_padding_changes_nothing(make_model, batch, decorate):
    """Padding changes neither outputs, loss nor gradients."""
    model = make_model(scale=0.5)
    model.compile(label_smoothing=0.1)

    @decorate
    def run(batch):
        inputs, targets, weights = batch
        with tf.GradientTape() as tape:
            logits = model(inputs, training=True)
            loss = model.compute_loss(inputs, targets, logits, weights)
        variables = [weight.value for weight in model.trainable_weights]
        return logits, loss, [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)]

    # Tensors, so that the function is not traced again.
    logits, loss, gradients = run(tf.nest.map_structure(tf.constant, batch))
    long_logits, long_loss, long_gradients = run(tf.nest.map_structure(tf.constant, padded(batch)))
    real = batch[2].astype(bool)
    np.testing.assert_allclose(long_logits.numpy()[:3, :4][real], logits[real], atol=1e-5)
    np.testing.assert_allclose(float(long_loss), float(loss), atol=1e-5)
    assert len(gradients) == len(model.weights)
    for weight, one, other in zip(model.weights, gradients, long_gradients, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-5, err_msg=weight.path)
        # A bias of the score shifts all energies. All other weights must have a gradient.
        assert np.abs(one).max() > 1e-6, weight.path


def test_perplexity_counts_tokens_not_batches(make_model, batch):
    inputs, targets, weights = batch
    model = make_model()
    model.compile(label_smoothing=0.3, run_eagerly=True)
    log_probabilities = np.take_along_axis(log_softmax(model(inputs)), targets[..., None], -1)
    expected = np.exp(-(log_probabilities[..., 0] * weights).sum() / weights.sum())

    def split():  # six tokens, then three
        for rows in (slice(0, 2), slice(2, 3)):
            yield {k: v[rows] for k, v in inputs.items()}, targets[rows], weights[rows]

    signature = tf.data.Dataset.from_tensors(batch).element_spec
    dataset = tf.data.Dataset.from_generator(
        split,
        output_signature=tf.nest.map_structure(
            lambda spec: tf.TensorSpec([None, None], spec.dtype), signature
        ),
    )
    results = model.evaluate(dataset, verbose=0, return_dict=True)
    np.testing.assert_allclose(results["perplexity"], expected, rtol=1e-5)
    # The next evaluation starts again from 0.
    again = model.evaluate(dataset, verbose=0, return_dict=True)
    np.testing.assert_allclose(again["perplexity"], expected, rtol=1e-5)


def test_perplexity_metric_by_hand():
    metric = Perplexity()
    assert float(metric.result()) == 1.0
    metric.update_state(np.log([[0.5, 0.25]]), np.array([[1.0, 1.0]]))
    metric.update_state(np.log([[0.125, 0.9]]), np.array([[1.0, 0.0]]))
    np.testing.assert_allclose(float(metric.result()), 2.0 ** ((1 + 2 + 3) / 3), rtol=1e-6)
    metric.reset_state()
    assert float(metric.result()) == 1.0


def test_guided_attention_by_hand():
    weights = np.array([[[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]]], "float32")
    # The first word is aligned evenly, the second to the second; the third to nothing.
    alignments = np.array([[[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]]], "float32")
    expected = -(np.log(0.5) + np.log(0.75)) / 2
    np.testing.assert_allclose(guided_attention_loss(weights, alignments), expected, rtol=1e-6)
    # A weight of 0 instead of 1 has a large but finite loss.
    missed = np.array([[[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]], "float32")
    np.testing.assert_allclose(guided_attention_loss(weights, missed), 30 * np.log(10), rtol=1e-5)
    assert guided_attention_loss(weights, 0 * missed) == 0.0


def test_guided_attention_draws_from_far_away():
    # The softmax is 1 at the wrong position. The gradient equals a cross-entropy's.
    scores = tf.Variable([[[25.0, 0.0]]])
    with tf.GradientTape() as tape:
        loss = guided_attention_loss(tf.nn.softmax(scores), np.array([[[0.0, 1.0]]]))
    np.testing.assert_allclose(loss, 25.0, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(loss, scores), [[[1.0, -1.0]]], rtol=1e-5)


def with_alignments(batch):
    """Return the inputs with alignments of all target words to the first source word."""
    inputs, targets, _ = batch
    alignments = np.zeros((3, targets.shape[1], inputs["source_ids"].shape[1]), "float32")
    alignments[:, :, 0] = targets != 0
    return {**inputs, "alignments": alignments}


def test_guided_attention_is_added(make_model, batch):
    inputs, targets, weights = batch
    model = make_model()
    guided = with_alignments(batch)
    alignments = guided["alignments"]

    def loss_of(inputs, guided_attention):
        model.compile(keras.optimizers.Adam(0.02), guided_attention=guided_attention)
        return float(model.compute_loss(y=targets, y_pred=model(inputs), sample_weight=weights))

    extra = float(guided_attention_loss(model.attend(inputs)["weights"], alignments))
    np.testing.assert_allclose(loss_of(guided, 0.5) - loss_of(inputs, 0.5), extra / 2, rtol=1e-4)
    assert loss_of(guided, 0.0) == pytest.approx(loss_of(inputs, 1.0))
    assert model.get_compile_config()["guided_attention"] == 1.0
    with pytest.raises(ValueError, match=r"Expected guided_attention >= 0\. Received: .*-1"):
        model.compile(guided_attention=-1)


@pytest.mark.thorough("trains; `test_guided_attention_is_added` shows the loss")
def test_guided_attention_is_learned(make_model, batch):
    inputs, targets, weights = batch
    model = make_model()
    guided = with_alignments(batch)
    alignments = guided["alignments"]
    extra = float(guided_attention_loss(model.attend(inputs)["weights"], alignments))
    model.compile(keras.optimizers.Adam(0.1), guided_attention=1.0, run_eagerly=True)
    model.fit(guided, targets, sample_weight=weights, epochs=11, verbose=0)
    learned = float(guided_attention_loss(model.attend(inputs)["weights"], alignments))
    assert learned < 0.1 * extra


def test_coverage_loss_is_added(batch):
    inputs, targets, weights = batch
    losses = {}
    for coverage in (0.0, 2.0):
        keras.utils.set_random_seed(3)
        model = bahdanau_gru(11, 13, embedding_dim=6, units=5, dropout=0.0, coverage=coverage)
        model.compile()
        for _ in range(2):  # the loss of the call before is gone
            logits = model(inputs)
            losses[coverage] = float(
                model.compute_loss(y=targets, y_pred=logits, sample_weight=weights)
            )
    attended = np.asarray(model.attend(inputs)["weights"])
    repeated = np.minimum(attended, np.cumsum(attended, axis=1) - attended).sum(-1)
    expected = 2 * repeated[targets != 0].mean()
    np.testing.assert_allclose(losses[2.0] - losses[0.0], expected, rtol=1e-4)


@pytest.mark.parametrize("smoothing", [pytest.param(0.0, marks=another), 0.1])
def test_the_loss_of_an_epoch_does_not_depend_on_the_batches(make_model, batch, smoothing):
    inputs, targets, _ = batch
    model = make_model()
    model.compile("sgd", label_smoothing=smoothing, run_eagerly=True)
    found = [
        model.evaluate(inputs, targets, batch_size=size, verbose=0, return_dict=True)
        for size in (3, 2, 1)
    ]
    for one in found[1:]:
        assert one["loss"] == pytest.approx(found[0]["loss"], rel=1e-5)
    wanted = (1 - smoothing) * np.eye(13)[targets] + smoothing / 13
    per_token = -(wanted * log_softmax(model(inputs))).sum(-1)
    expected = per_token[targets != 0].mean()
    assert found[0]["loss"] == pytest.approx(expected, rel=1e-5)


def test_metrics_have_one_loss(make_model, batch):
    inputs, targets, _ = batch
    model = make_model()
    assert [metric.name for metric in model.metrics] == ["perplexity"]
    model.compile("sgd", run_eagerly=True)
    assert [metric.name for metric in model.metrics] == ["loss", "perplexity"]
    loss, perplexity = model.evaluate(inputs, targets, verbose=0)
    model.compile("sgd", label_smoothing=0.0, run_eagerly=True)
    assert model.evaluate(inputs, targets, verbose=0)[0] == pytest.approx(np.log(perplexity))
    assert loss != pytest.approx(np.log(perplexity))
    with_own = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=with_own, run_eagerly=True)
    assert [metric.name for metric in model.metrics] == ["loss", "perplexity"]
    assert all(metric is not model.word_loss for metric in model.metrics)


SENTENCE_WEIGHTS = np.array([0.5, 0.0, 0.25], "float32")


def sentence_weights(batch):
    """A batch whose targets are as wide as it has rows, and the weights of its tokens."""
    inputs, targets, _ = batch
    inputs, targets = {**inputs, "target_ids": inputs["target_ids"][:, :3]}, targets[:, :3]
    return inputs, targets, SENTENCE_WEIGHTS[:, None] * (targets != 0)


def test_token_weights_by_hand():
    targets = np.array([[5, 3, 0], [4, 6, 3], [3, 0, 0]])
    expected = [[0.5, 0.5, 0], [2, 2, 2], [3, 0, 0]]
    for weights in ([0.5, 2, 3], [[0.5], [2], [3]], [[0.5, 0.5, 9], [2, 2, 2], [3, 9, 9]]):
        np.testing.assert_array_equal(token_weights(targets, weights), expected)
    for weights in (1.0, [[1.0, 2.0]], np.ones([3, 2]), np.ones([2, 3]), np.ones([3, 3, 1])):
        with pytest.raises(ValueError, match=r"shape \[batch\], \[batch, 1\] or .* Received: the"):
            token_weights(targets, weights)


@pytest.mark.parametrize(
    "options",
    [
        "own loss",
        pytest.param("r_drop", marks=another),
        pytest.param("Keras loss", marks=another),
        pytest.param("pointer-generator", marks=another),
    ],
)
def test_weights_of_sentences_are_weights_of_their_tokens(make_model, batch, options):
    """Weights `[batch]` belong to sentences, also if the targets are as wide as the batch."""
    inputs, targets, weights = sentence_weights(batch)
    model = make_model()
    compiled = {
        "r_drop": {"r_drop": 2.0},
        "Keras loss": {"loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
    }.get(options, {})
    if options == "pointer-generator":
        model = pointer_generator_gru(13, embedding_dim=6, units=5, dropout=0.0)
    model.compile(
        *(keras.optimizers.SGD(0.0),),
        weighted_metrics=None if model.copies else ["sparse_categorical_accuracy"],
        run_eagerly=True,
        **compiled,
    )
    expected = model.evaluate(inputs, targets, sample_weight=weights, verbose=0, return_dict=True)
    assert not model.copies or "generate_probability" in expected
    if not compiled:
        log = np.array(model.token_log_probability(inputs, targets))
        perplexity = np.exp(-(weights * log).sum() / weights.sum())
        np.testing.assert_allclose(expected["perplexity"], perplexity, rtol=1e-5)
    for given in (SENTENCE_WEIGHTS, SENTENCE_WEIGHTS[:, None]):
        dataset = tf.data.Dataset.from_tensor_slices((inputs, targets, given)).batch(3)
        history = model.fit(inputs, targets, sample_weight=given, shuffle=False, verbose=0).history
        for found in (
            {name: values[0] for name, values in history.items()},
            model.evaluate(inputs, targets, sample_weight=given, verbose=0, return_dict=True),
            model.evaluate(dataset, verbose=0, return_dict=True),
            model.train_on_batch(inputs, targets, given, return_dict=True),
            model.test_on_batch(inputs, targets, given, return_dict=True),
        ):
            assert found == pytest.approx(expected, rel=1e-5)


def test_weights_of_sentences_and_tokens_in_one_graph(make_model, batch):
    """TensorFlow does not know the rank of the weights from the second call on."""
    inputs, targets, weights = batch
    model = make_model()
    model.compile("sgd")
    columns = SENTENCE_WEIGHTS, SENTENCE_WEIGHTS[:, None], SENTENCE_WEIGHTS[:, None] * weights
    losses = [
        model.evaluate(inputs, targets, sample_weight=given, verbose=0, return_dict=True)
        for given in columns
    ]
    assert losses[1] == pytest.approx(losses[0]) == losses[2]


@pytest.mark.parametrize("r_drop", [0.0, pytest.param(2.0, marks=another)])
def test_a_batch_without_weights(make_model, batch, r_drop):
    """Padding does not count, also in weighted metrics."""
    inputs, targets, weights = batch
    model = make_model()
    model.compile(
        keras.optimizers.SGD(0.0),
        r_drop=r_drop,
        weighted_metrics=["sparse_categorical_accuracy"],
        run_eagerly=True,
    )
    expected = model.evaluate(inputs, targets, sample_weight=weights, verbose=0)
    dataset = tf.data.Dataset.from_tensors((inputs, targets))
    for found in (
        model.train_on_batch(inputs, targets),
        model.test_on_batch(inputs, targets),
        [values[0] for values in model.fit(dataset, verbose=0).history.values()],
        [*model.train_step((inputs, targets)).values()],
    ):
        np.testing.assert_allclose(sorted(map(float, found)), sorted(expected), rtol=1e-5)


def test_targets_of_any_integers(make_model, batch):
    inputs, targets, _ = batch
    model = make_model()
    model.compile(keras.optimizers.SGD(0.0), run_eagerly=True)
    loss, logs = model.train_on_batch(inputs, targets), model.token_log_probability(inputs, targets)
    for dtype in ("int8", "uint16", "int64"):
        given = inputs, targets.astype(dtype)
        np.testing.assert_allclose(model.train_on_batch(*given), loss, rtol=1e-6)
        np.testing.assert_allclose(model.token_log_probability(*given), logs, rtol=1e-6)


def test_what_training_refuses(make_model, batch):
    inputs, targets, _ = batch
    model = make_model()
    model.compile("sgd", run_eagerly=True)
    for train in (model.fit, model.train_on_batch):
        with pytest.raises(ValueError, match=r"Expected no class_weight.*sample_weight=table\[y\]"):
            train(inputs, targets, class_weight={4: 2.0})
    with pytest.raises(ValueError, match=r"Expected targets.*Received: inputs alone"):
        model.train_on_batch(inputs)


def test_weights_of_captions_and_answers():
    captions = show_attend_tell_lstm(13, embedding_dim=6, units=5, image_size=8, filters=(3, 4))
    answers = memory_network(9, embedding_dim=6)
    caption_inputs = {
        "images": np.random.default_rng(0).integers(0, 255, [3, 8, 8, 3]).astype("uint8"),
        "target_ids": np.array([[2, 5, 7], [2, 0, 0], [2, 9, 0]], "int32"),
    }
    captioned = np.array([[5, 7, 3], [3, 0, 0], [9, 3, 0]], "int32")
    story = {"story_ids": np.ones([3, 2, 2], "int32"), "question_ids": np.array([[4], [5], [6]])}
    for model, inputs, targets in (
        (captions, caption_inputs, captioned),
        (answers, story, np.array([4, 5, 8], "int32")),
    ):
        model.compile("sgd", run_eagerly=True)
        one = {name: value[[0, 2]] for name, value in inputs.items()}
        repeated = {name: np.concatenate([value, value[:1]]) for name, value in one.items()}
        wanted = model.test_on_batch(repeated, targets[[0, 2, 0]], return_dict=True)
        for weights in (np.array([2.0, 0, 1], "float32"), np.array([[2.0], [0], [1]], "float32")):
            found = model.test_on_batch(inputs, targets, weights, return_dict=True)
            if model is captions:  # the loss of its attention has no weights
                found, wanted = ({"perplexity": one["perplexity"]} for one in (found, wanted))
            assert found == pytest.approx(wanted, rel=1e-4)


def test_perplexity_of_small_weights():
    """A sum of weights below 1 does not change the mean."""
    metric = Perplexity()
    metric.update_state(np.log([[0.5, 0.125]]).astype("float32"), np.array([[0.1, 0.1]], "float32"))
    assert float(metric.result()) == pytest.approx(4.0)
    metric.reset_state()
    assert float(metric.result()) == 1.0

"""R-Drop: two passes over each batch, whose predictions should agree."""

import keras
import numpy as np
import pytest

from kerasnmt.models.losses import r_drop_loss
from kerasnmt.zoo import bahdanau_gru, pointer_generator_gru, pointer_network_lstm
from tests.numerics import fill, softmax


def divergence(p, q):
    return (p * np.log(p / q)).sum(-1)


def test_divergence_by_hand():
    # Row 0 is repeated by row 1. The second token is padding.
    p, q = [0.5, 0.25, 0.25], [0.25, 0.25, 0.5]
    logs = np.log([[p, p], [q, [0.9, 0.05, 0.05]]]).astype("float32")
    weight = np.array([[2.0, 0.0], [2.0, 0.0]], "float32")
    # KL is (1/2 - 1/4) log 2 in both directions, for one token of two passes.
    expected = 2 * 0.25 * np.log(2) / 4
    np.testing.assert_allclose(r_drop_loss(logs, weight, 4.0), expected, rtol=1e-6)
    np.testing.assert_allclose(r_drop_loss(logs[::-1], weight, 4.0), expected, rtol=1e-6)
    assert float(r_drop_loss(logs[[0, 0]], weight, 4.0)) == 0.0
    assert float(r_drop_loss(logs, 0 * weight, 0.0)) == 0.0


def dropping(alpha, seed=3, rate=0.0, dropout=0.5):
    """A model whose dropout masks depend only on the seed."""
    keras.utils.set_random_seed(seed)
    model = bahdanau_gru(11, 13, embedding_dim=6, units=5, dropout=dropout)
    fill(model, seed).compile(
        keras.optimizers.SGD(rate), label_smoothing=0.1, r_drop=alpha, run_eagerly=True
    )
    return model


def test_the_loss_of_fit(batch):
    """The loss is half of the paper's: mean cross-entropy of two passes, and alpha times KL / 2."""
    inputs, targets, weights = batch
    weights = weights * np.array([[0.5], [1.0], [2.0]], "float32")
    history = dropping(4.0).fit(inputs, targets, sample_weight=weights, shuffle=False, verbose=0)
    twice = {name: np.concatenate([ids, ids]) for name, ids in inputs.items()}
    first, second = np.split(softmax(dropping(4.0)(twice, training=True)), 2)
    assert np.abs(first - second).max() > 0.01  # dropout differs
    wanted = 0.9 * np.eye(13)[targets] + 0.1 / 13
    entropy = -(wanted * (np.log(first) + np.log(second))).sum(-1)  # of both passes
    both_ways = (divergence(first, second) + divergence(second, first)) / 2
    per_token = (entropy + 4.0 * both_ways) / 2
    expected = (weights * per_token).sum() / weights.sum()
    np.testing.assert_allclose(history.history["loss"][0], expected, rtol=1e-5)
    tokens = np.take_along_axis(np.log(first * second), targets[..., None], -1)[..., 0]
    perplexity = np.exp(-(weights * tokens).sum() / weights.sum() / 2)
    np.testing.assert_allclose(history.history["perplexity"][0], perplexity, rtol=1e-5)


@pytest.mark.thorough("trains twice; the divergence of equal passes is 0")
def test_without_dropout_it_changes_nothing(batch):
    inputs, targets, _ = batch
    trained = []
    for alpha in (0.0, 5.0):
        model = dropping(alpha, rate=0.5, dropout=0.0)
        model.fit(inputs, targets, epochs=2, shuffle=False, verbose=0)
        trained.append(model.get_weights())
    for plain, dropped in zip(*trained, strict=True):
        np.testing.assert_allclose(dropped, plain, atol=1e-5)


def test_evaluation_reads_once(batch):
    inputs, targets, _ = batch
    found = [dropping(alpha).evaluate(inputs, targets, verbose=0) for alpha in (0.0, 4.0)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


@pytest.mark.thorough("trains a further model")
def test_a_model_that_copies_and_guided_attention():
    """Impossible extended ids are impossible in both passes."""
    keras.utils.set_random_seed(1)
    model = pointer_generator_gru(9, embedding_dim=6, units=5, dropout=0.4, coverage=0.5)
    inputs = {
        "source_ids": np.array([[5, 1, 1, 3], [6, 1, 3, 0]], "int32"),
        "extended_source_ids": np.array([[5, 9, 10, 3], [6, 9, 3, 0]], "int32"),
        "target_ids": np.array([[2, 1, 7], [2, 1, 0]], "int32"),
        "alignments": np.full((2, 3, 4), 0.25, "float32"),
    }
    targets = np.array([[9, 7, 3], [9, 3, 0]], "int32")
    losses = {}
    for alpha in (0.0, 3.0):
        model.compile(keras.optimizers.Adam(0.01), r_drop=alpha, run_eagerly=True)
        losses[alpha] = model.fit(inputs, targets, epochs=3, verbose=0).history["loss"]
    assert np.isfinite(losses[3.0]).all()
    assert losses[3.0][-1] < losses[3.0][0] < losses[0.0][0]


def test_a_copy_that_one_pass_excludes():
    """It has a probability of 1e-30, as in the perplexity, so the divergence stays small."""
    source = np.array([[5, 9, 8, 10, 3], [6, 7, 3, 0, 0]], "int32")
    inputs = {"source_ids": source, "target_ids": np.array([[2, 5, 9], [2, 6, 7]], "int32")}
    targets = np.array([[5, 9, 3], [6, 7, 3]], "int32")

    def make():
        keras.utils.set_random_seed(1)
        options = {"embedding_dim": 6, "units": 5, "dropout": 0.5, "normalizer": "sparsemax"}
        return fill(pointer_network_lstm(13, **options), 3, 2.0)

    model = make()
    twice = {name: np.concatenate([ids, ids]) for name, ids in inputs.items()}
    logs = np.array(model.decoder.next_log_probability(model(twice, training=True)))
    assert (logs.min(axis=0) < -1e8).any()
    first, second = np.split(np.exp(np.maximum(logs, np.log(1e-30))), 2)
    of_tokens = np.take_along_axis(np.log(first * second), targets[..., None], -1)[..., 0]
    both_ways = (divergence(first, second) + divergence(second, first)) / 2
    model = make()
    model.compile(keras.optimizers.SGD(0.0), label_smoothing=0.0, r_drop=3.0, run_eagerly=True)
    loss, _ = model.train_on_batch(inputs, targets)
    np.testing.assert_allclose(loss, np.mean(3.0 * both_ways - of_tokens) / 2, rtol=1e-5)


@pytest.mark.thorough("traces training")
def test_in_a_graph_and_saved(tmp_path, batch):
    inputs, targets, _ = batch
    model = dropping(2.0)
    eager = model.fit(inputs, targets, shuffle=False, verbose=0).history["loss"]
    other = dropping(2.0)
    other.compile(keras.optimizers.SGD(0.0), label_smoothing=0.1, r_drop=2.0)
    np.testing.assert_allclose(
        other.fit(inputs, targets, shuffle=False, verbose=0).history["loss"], eager, rtol=1e-5
    )
    other.save(tmp_path / "model.keras")
    assert keras.saving.load_model(tmp_path / "model.keras").r_drop == 2.0


def test_bad_weights_and_losses(make_model):
    model = make_model()
    with pytest.raises(ValueError, match=r"Expected r_drop >= 0.*Received: r_drop=-1"):
        model.compile(r_drop=-1)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with pytest.raises(ValueError, match=r"Expected no loss with r_drop.*r_drop=1\.0"):
        model.compile(loss=loss, r_drop=1.0)

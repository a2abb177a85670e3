"""Wrong inputs that would train or search without an error."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.layers import Targets
from kerasnmt.models import Ensemble
from kerasnmt.models.checks import check_ids, check_takes_logits
from kerasnmt.zoo import context_attention_gru, pointer_generator_gru


@pytest.mark.parametrize("ids", [[[0, 4]], np.array([[4, 0]], "int64"), np.zeros((0, 3), "int32")])
def test_ids_of_the_vocabulary(ids):
    check_ids("source_ids", ids, 5)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[4, 5]], r"Expected ids from 0 to 4 as source_ids\. Received: the id 5\. Make the ids"),
        ([[4, -1]], r"Expected ids from 0 to 4 as source_ids\. Received: the id -1\."),
        ([[4.0, 3.0]], r"Expected integers as source_ids\. Received: float.*Cast them to int32"),
        (tf.constant([[7]]), r"Received: the id 7"),
        ([[4, 3], [3]], r"Expected rows of one length as source_ids.*Pad them on the right with 0"),
        ([["two dogs"]], r"Expected integers as source_ids\. Received: str"),
        ([4, 3], r"Expected source_ids of shape \[batch, length\]\. Received: the shape \[2\]\."),
        ([[[4, 3]]], r"Received: the shape \[1, 1, 2\]\."),
    ],
)
def test_ids_outside_the_vocabulary(ids, message):
    with pytest.raises(ValueError, match=message):
        check_ids("source_ids", ids, 5)


def test_a_tensor_in_a_graph_has_no_values_yet():
    def check(ids):
        check_ids("source_ids", ids, 5)
        return ids

    traced = tf.function(check, autograph=False)
    traced.get_concrete_function(tf.TensorSpec([None, None], tf.int32))


def changed(inputs, name, value):
    ids = inputs[name].copy()
    ids[0, 0] = value
    return {**inputs, name: ids}


@pytest.mark.parametrize(("name", "size"), [("source_ids", 11), ("target_ids", 13)])
def test_wherever_ids_enter_a_model(make_model, batch, name, size):
    inputs, targets, weights = batch
    model = make_model()
    model.compile("sgd", run_eagerly=True)
    message = rf"Expected ids from 0 to {size - 1} as {name}\. Received: the id {size}\."
    wrong = changed(inputs, name, size)
    calls = {
        "call": lambda: model(wrong),
        "fit": lambda: model.fit(wrong, targets, sample_weight=weights, verbose=0),
        "evaluate": lambda: model.evaluate(wrong, targets, verbose=0),
        "attend": lambda: model.attend(wrong),
        "token_log_probability": lambda: model.token_log_probability(wrong, targets),
    }
    if name == "source_ids":
        calls["search"] = lambda: model.search(wrong)
    for call in calls.values():
        with pytest.raises(ValueError, match=message):
            call()


def test_targets_outside_the_vocabulary(make_model, batch):
    inputs, targets, _ = batch
    model = make_model()
    model.compile("sgd")
    with pytest.raises(ValueError, match=r"from 0 to 12 as targets\. Received: the id 13\."):
        model.fit(inputs, np.where(targets == 12, 13, targets), verbose=0)


def test_targets_of_another_length(make_model, batch):
    """Their rows would be read as those of other tokens."""
    inputs, targets, _ = batch
    model = make_model()
    model.compile("sgd", run_eagerly=True)
    longer = np.pad(targets, ((0, 0), (1, 0)), constant_values=2)
    for ids, wanted in ((longer, targets), (targets[:, :3], targets), (targets, targets[:, 0])):
        given = {**inputs, "target_ids": ids}
        for call in (model.train_on_batch, model.token_log_probability):
            with pytest.raises(ValueError, match="Expected target_ids and targets of one length"):
                call(given, wanted)
    # The lengths of a dataset can be unknown.
    unknown = tf.function(
        lambda features, ids: Targets.real(ids).apply(lambda rows, _: (rows[:, 0],), features),
        input_signature=[tf.TensorSpec([None, None, 2]), tf.TensorSpec([None, None], tf.int32)],
        autograph=False,
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        unknown(np.ones((3, 5, 2), "float32"), targets)


@pytest.mark.parametrize("name", ["source_ids", "prefix_ids"])
def test_a_search_does_not_truncate_floats(model, batch, name):
    given = {"source_ids": batch[0]["source_ids"], "prefix_ids": np.array([[4], [5], [6]])}
    given[name] = given[name] + 0.5
    source = given.pop("source_ids")
    with pytest.raises(ValueError, match=f"Expected integers as {name}. Received: float64"):
        model.search(source, **given)


@pytest.mark.parametrize(
    ("prefix_ids", "message"),
    [
        ([[4], [13], [5]], r"Expected ids from 0 to 12 as prefix_ids\. Received: the id 13\."),
        ([4, 5, 6], r"Expected prefix_ids of shape \[batch, length\]\."),
        ([[4], [5]], r"Received: 3 sources, 2 rows of prefix_ids"),
    ],
)
def test_prefixes_of_a_search(model, batch, prefix_ids, message):
    for one in (model, Ensemble([model])):
        with pytest.raises(ValueError, match=message):
            one.search(batch[0]["source_ids"], prefix_ids=prefix_ids, max_length=5)


def test_prefixes_longer_than_the_targets(model, batch):
    options = {"inputs": batch[0]["source_ids"], "max_length": 3}
    with pytest.warns(match="^prefix_ids are truncated to 3, the max_length of this search$"):
        found = model.search(prefix_ids=[[4, 5, 6, 7]] * 3, **options)
    assert np.array(found.ids).tolist() == [[[4, 5, 6]]] * 3
    model.search(prefix_ids=[[4, 5, 0, 0]] * 3, **options)  # without a warning


def test_prefixes_in_a_graph_are_integers(model):
    search = tf.function(lambda prefix_ids: model.search([[4, 3]], prefix_ids=prefix_ids))
    with pytest.raises(ValueError, match="Expected integers as prefix_ids"):
        search(tf.constant([[5.9]]))


def test_extended_ids_with_gaps():
    """The probability of a word whose id has no column in the outputs would be lost."""
    model = pointer_generator_gru(9, embedding_dim=4, units=4)
    ids = {"source_ids": np.array([[4, 1, 3]]), "extended_source_ids": np.array([[4, 11, 3]])}
    assert model.search(ids, max_length=3).ids.shape == (1, 1, 3)
    ids["extended_source_ids"] = np.array([[4, 12, 3]])
    with pytest.raises(ValueError, match=r"from 0 to 11 as extended_source_ids.*the id 12"):
        model.search(ids, max_length=3)


@pytest.mark.thorough("one text shows it")
def test_extended_ids_of_two_texts():
    model = context_attention_gru(9, embedding_dim=4, units=4)
    ids = {
        "source_ids": np.array([[1, 3]]),
        "context_ids": np.array([[1, 1, 3]]),
        "extended_source_ids": np.array([[9, 3]]),
        "extended_context_ids": np.array([[13, 9, 3]]),
    }
    assert model.search(ids, max_length=3).ids.shape == (1, 1, 3)
    ids["extended_context_ids"] = np.array([[14, 9, 3]])
    with pytest.raises(ValueError, match=r"from 0 to 13 as extended_context_ids.*the id 14"):
        model.search(ids, max_length=3)


WITH_LOGITS = functools.partial(keras.losses.sparse_categorical_crossentropy, from_logits=True)


class OwnLoss(keras.losses.Loss):
    def call(self, targets, logits):
        return logits[..., 0]


@pytest.mark.parametrize(
    "loss",
    [
        None,
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        WITH_LOGITS,
        OwnLoss(),
        lambda y, logits: logits,
    ],
)
def test_losses_that_take_logits(loss):
    check_takes_logits(loss)


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        ("sparse_categorical_crossentropy", "sparse_categorical_crossentropy"),
        (keras.losses.SparseCategoricalCrossentropy(name="own"), "own"),
        (keras.losses.categorical_crossentropy, "categorical_crossentropy"),
        (["sparse_categorical_crossentropy"], "sparse_categorical_crossentropy"),
        ({"x": keras.losses.BinaryCrossentropy()}, "binary_crossentropy"),
    ],
)
def test_losses_that_take_probabilities(model, loss, name):
    message = rf"Expected a loss that takes logits.*Received: loss={name} with from_logits=False\."
    with pytest.raises(ValueError, match=message):
        model.compile("adam", loss=loss)


def test_a_model_that_copies_has_no_logits():
    model = pointer_generator_gru(9, embedding_dim=4, units=4)
    with pytest.raises(ValueError, match="Expected no loss for a model that copies"):
        model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def test_lists_and_validation_data(make_model, batch):
    inputs, targets, _ = batch
    model = make_model()
    model.compile("sgd", run_eagerly=True)
    with pytest.raises(ValueError, match="Expected rows of one length as source_ids"):
        model.search([[4, 5, 3], [6, 3]])
    with pytest.raises(ValueError, match=r"Expected integers as source_ids\. Received: str"):
        model.search(["two dogs run"])
    wrong = changed(inputs, "source_ids", 11)
    with pytest.raises(ValueError, match=r"from 0 to 10 as source_ids\. Received: the id 11"):
        model.fit(inputs, targets, validation_data=(wrong, targets), verbose=0)


def test_inputs_that_are_no_dict_or_incomplete(make_model, batch):
    inputs, targets, _ = batch
    model = make_model()
    model.compile("sgd", run_eagerly=True)
    message = r"Expected a dict with source_ids, target_ids as inputs\. Received: "
    arrays = [inputs["source_ids"], inputs["target_ids"]]
    for call in (lambda x: model.fit(x, targets, verbose=0), lambda x: model(x)):
        with pytest.raises(ValueError, match=message + r"a \w+\."):
            call(arrays)
        with pytest.raises(ValueError, match=message + r"\['source', 'target_ids'\]"):
            call({"source": arrays[0], "target_ids": arrays[1]})
    source = {"source_ids": arrays[0]}
    for call in (
        lambda: model.attend(source),
        lambda: model.attend_by_head(source),
        lambda: model.inspect(source),
        lambda: model.token_log_probability(source, targets),
    ):
        with pytest.raises(ValueError, match=message + r"\['source_ids'\]"):
            call()


@pytest.mark.thorough("evaluates three times; test_loss.py shows the metrics")
def test_without_a_loss_an_earlier_one_is_forgotten(make_model, batch):
    inputs, targets, _ = batch
    model, losses = make_model(), []
    with_own = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for loss in (None, with_own, None):
        model.compile("sgd", loss=loss, label_smoothing=0.0, run_eagerly=True)
        losses.append(model.evaluate(inputs, targets, verbose=0)[0])
    assert losses[0] == losses[2] != losses[1]

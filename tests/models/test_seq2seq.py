import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.layers import RecurrentEncoder
from kerasnmt.layers.encoders.encoder import Encoder
from kerasnmt.models import Seq2Seq
from kerasnmt.text import WordTokenizer
from kerasnmt.zoo import bahdanau_gru, pointer_generator_gru
from tests.numerics import log_softmax

OPTIONS = {"beam_size": 3, "n_best": 3, "max_length": 7, "with_records": True}
one = pytest.param(1, marks=pytest.mark.thorough("a wider beam shows it"))


@pytest.fixture(scope="module")
def searched_model(make_model):
    """A model whose hypotheses differ in length. Tests must not change it."""
    return make_model(seed=5, scale=0.8)


def teacher_forced(model, source_ids, ids):
    """Return the log-probability of a target and its attention weights, by a full pass."""
    target_ids = np.concatenate([np.full((len(ids), 1), START_ID), ids[:, :-1]], 1).astype("int32")
    inputs = {"source_ids": source_ids, "target_ids": target_ids}
    chosen = np.take_along_axis(log_softmax(model(inputs)), ids[..., None], -1)[..., 0]
    real = ids != PAD_ID
    return (chosen * real).sum(1), model.attend(inputs)["weights"].numpy() * real[..., None]


@pytest.mark.parametrize("beam_size", [one, 3])
def test_scores_and_weights_of_a_search_match_its_targets(searched_model, batch, beam_size):
    source_ids, model = batch[0]["source_ids"], searched_model
    options = {**OPTIONS, "beam_size": beam_size, "n_best": beam_size}
    found = model.search(source_ids, length_penalty=0.6, **options)
    assert found.ids.shape == (3, beam_size, 7)
    assert found.records["weights"].shape == (3, beam_size, 7, 5)
    for k in range(beam_size):
        ids = found.ids[:, k].numpy()
        score, weights = teacher_forced(model, source_ids, ids)
        lengths = (ids != PAD_ID).sum(1)
        np.testing.assert_allclose(
            found.scores[:, k], score / ((5 + lengths) / 6) ** 0.6, atol=1e-4
        )
        np.testing.assert_allclose(found.records["weights"][:, k], weights, atol=1e-5)
    bare = model.search(source_ids, length_penalty=0.6, **{**options, "with_records": False})
    np.testing.assert_array_equal(bare.ids, found.ids)
    assert bare.records == {}


@pytest.mark.parametrize("beam_size", [one, 3])
def test_search_never_takes_padding_or_start(make_model, batch, beam_size):
    model = make_model()
    bias = np.zeros(13)
    bias[[PAD_ID, START_ID]] = 50.0
    model.decoder.generator.bias.assign(bias)
    options = {**OPTIONS, "beam_size": beam_size, "n_best": beam_size}
    ids = model.search(batch[0]["source_ids"], **options).ids.numpy()
    assert START_ID not in ids
    ended = np.cumsum(ids == END_ID, axis=-1) - (ids == END_ID)
    np.testing.assert_array_equal(ids == PAD_ID, ended > 0)


@pytest.mark.parametrize("beam_size", [one, 3])
def test_neighbours_and_padding_change_nothing(searched_model, batch, beam_size):
    source_ids, model = batch[0]["source_ids"], searched_model
    options = {**OPTIONS, "beam_size": beam_size, "n_best": beam_size}
    together = model.search(source_ids, **options)
    beside_longer = model.search(
        np.concatenate([np.full((1, 9), 7, "int32"), np.pad(source_ids, ((0, 0), (0, 4)))]),
        **options,
    )
    np.testing.assert_array_equal(beside_longer.ids[1:], together.ids)
    np.testing.assert_allclose(beside_longer.scores[1:], together.scores, atol=1e-4)
    for row in range(3):
        alone = model.search(source_ids[row, source_ids[row] != 0][None], **options)
        np.testing.assert_array_equal(alone.ids[0], together.ids[row])
        np.testing.assert_allclose(alone.scores[0], together.scores[row], atol=1e-4)


@pytest.mark.graph
@pytest.mark.thorough("tests/decoding shows it")
def test_batch_of_none(model):
    for beam_size in (1, 3):
        options = {**OPTIONS, "beam_size": beam_size, "n_best": beam_size}
        found = tf.function(
            lambda ids, options=options: model.search(ids, **options), autograph=False
        )(tf.zeros([0, 4], tf.int32))
        assert found.ids.shape == (0, beam_size, 7)
        assert found.records["weights"].shape == (0, beam_size, 7, 4)
        assert model.search(np.zeros((0, 4), "int32"), **options).ids.shape == (0, beam_size, 7)


@pytest.mark.thorough("trains; test_loading.py and test_frozen.py show the parts")
def test_file_round_trip(make_model, batch, tmp_path):
    inputs, targets, weights = batch
    model = make_model(seed=2, tie_embeddings=True)
    model.compile(
        keras.optimizers.Adam(0.02), label_smoothing=0.2, weighted_metrics=[], run_eagerly=True
    )
    model.fit(inputs, targets, sample_weight=weights, verbose=0)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(copy(inputs), model(inputs), atol=1e-6)
    options = {**OPTIONS, "beam_size": 3, "n_best": 3}
    one, other = (m.search(inputs["source_ids"], **options) for m in (model, copy))
    np.testing.assert_array_equal(other.ids, one.ids)
    np.testing.assert_array_equal(other.scores, one.scores)
    assert copy.label_smoothing == 0.2
    assert type(copy.optimizer) is keras.optimizers.Adam
    assert float(copy.optimizer.learning_rate) == pytest.approx(0.02)
    assert int(copy.optimizer.iterations) == 1
    for one, other in zip(model.optimizer.variables, copy.optimizer.variables, strict=True):
        np.testing.assert_array_equal(other, one)
    # One more training step from the same state gives the same weights.
    for trained in (model, copy):
        trained.run_eagerly = True
        trained.fit(inputs, targets, sample_weight=weights, verbose=0, shuffle=False)
    np.testing.assert_allclose(copy(inputs), model(inputs), atol=1e-5)


def test_weights_file_round_trip(make_model, batch, tmp_path):
    model, other = make_model(seed=1), make_model(seed=2)
    model.save_weights(tmp_path / "model.weights.h5")
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(batch[0]), model(batch[0]))


def test_text_needs_tokenizers(model, tmp_path):
    with pytest.raises(ValueError, match="Expected a model with tokenizers"):
        model.translate(["a"])
    with pytest.raises(ValueError, match="Expected a model with tokenizers"):
        model.export(str(tmp_path / "1"))


@pytest.mark.parametrize(("beam_size", "n_best"), [(2, 3), (1, 2), (2, 0)])
def test_search_refuses_more_than_the_beam(model, beam_size, n_best):
    with pytest.raises(ValueError, match=rf"hypotheses, {beam_size}\. Received: n_best={n_best}"):
        model.search(np.array([[4, 3]], "int32"), beam_size=beam_size, n_best=n_best)


@pytest.mark.parametrize("n_best", [1.0, True, "1", None])
def test_the_number_of_results_is_an_integer(model, n_best):
    with pytest.raises(ValueError, match=rf"^Expected an integer as n_best.*n_best={n_best!r}\.$"):
        model.search(np.array([[4, 3]], "int32"), n_best=n_best)


def test_perplexity_is_measured_under_a_loss_of_ones_own():
    model = bahdanau_gru(9, units=4, embedding_dim=3, dropout=0.0)
    inputs = {
        "source_ids": np.array([[4, 5, 3]], "int32"),
        "target_ids": np.array([[2, 6]], "int32"),
    }
    targets = np.array([[6, 3]], "int32")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss, run_eagerly=True)
    measured = model.evaluate(inputs, targets, verbose=0, return_dict=True)
    assert measured["perplexity"] == pytest.approx(np.exp(measured["loss"]), rel=1e-5)


@pytest.mark.parametrize("beam_size", [one, 3])
def test_search_takes_ids_of_any_width(model, beam_size):
    ids, prefix = np.array([[4, 5, 3], [7, 3, 0]]), np.array([[6, 4], [8, 0]])
    options = {"beam_size": beam_size, "no_repeat_ngram": 2, "max_length": 6}
    narrow = model.search(ids.astype("int32"), prefix_ids=prefix.astype("int32"), **options)
    wide = model.search(ids, prefix_ids=prefix, **options)
    np.testing.assert_array_equal(narrow.ids, wide.ids)
    assert narrow.ids[0, 0, :2].numpy().tolist() == [6, 4]
    assert narrow.ids[1, 0, 0] == 8


def test_scores_leave_nothing_on_the_model(eagerly):
    tokenizer = WordTokenizer(["two", "dogs"])
    model = bahdanau_gru(tokenizer, units=4, embedding_dim=3, coverage=1.0)
    (score,) = model.score(["two dogs"], ["dogs"])
    assert score < 0
    assert model.losses == []


def test_extended_ids_for_a_model_that_does_not_copy(model, batch):
    inputs, _, _ = batch
    with pytest.raises(ValueError, match=r"because this decoder does not copy\. Received: inputs"):
        model({**inputs, "extended_source_ids": inputs["source_ids"]})


def test_a_model_that_copies_says_what_it_needs_to_learn_it():
    model = pointer_generator_gru(WordTokenizer(["a", "b"]), embedding_dim=4, units=4)
    model.compile("sgd", run_eagerly=True)
    inputs = {
        "source_ids": np.array([[4, 5, 3], [1, 4, 3]], "int32"),
        "target_ids": np.array([[2, 5, 4], [2, 4, 1]], "int32"),
    }
    extended = {**inputs, "extended_source_ids": np.array([[4, 5, 3], [6, 4, 3]], "int32")}
    targets = np.array([[5, 4, 3], [4, 6, 3]], "int32")
    with pytest.warns(UserWarning, match="extended_vocabulary=True$"):
        model.fit(inputs, np.minimum(targets, 5), verbose=0)
    with warnings.catch_warnings(record=True) as caught:
        model.fit(extended, targets, verbose=0)
    assert not [one for one in caught if "copies" in str(one.message)]


def test_a_tokenizer_larger_than_the_vocabulary(make_model):
    model = make_model()
    tokenizer = WordTokenizer([f"w{number}" for number in range(8)])
    serialized = keras.saving.serialize_keras_object(tokenizer)
    config = {**model.get_config(), "source_tokenizer": serialized}
    message = r"a source_tokenizer with at most 11 ids.*Received: <WordTokenizer of 12 ids: 'w0'"
    with pytest.raises(ValueError, match=message):
        type(model).from_config(config)


def test_layers_within_others_are_found_by_name(model):
    assert model.get_layer("attention") is model.decoder.cell.attention
    assert model.get_layer("decoder") is model.decoder
    assert model.get_layer(index=0) is model.layers[0]
    with pytest.raises(ValueError, match="No such layer: nothing"):
        model.get_layer("nothing")


def test_the_summary_lists_the_layers_within_others(model):
    lines = []
    model.summary(print_fn=lines.append)
    outer = "\n".join(lines)
    assert "decoder" in outer and "attention" not in outer
    lines.clear()
    model.summary(print_fn=lines.append, expand_nested=True)
    (attention,) = (line for line in lines if line.startswith("decoder/cell/attention "))
    count = model.decoder.cell.attention.count_params()
    assert attention.split() == ["decoder/cell/attention", "BahdanauAttention", f"{count:,}"]


def test_quantization_in_place_is_refused(model, batch):
    before = model(batch[0])
    with pytest.raises(NotImplementedError, match=r'model.export\(directory, weights="int8"\)'):
        model.quantize("int8")
    np.testing.assert_array_equal(model(batch[0]), before)


def test_an_encoder_without_build_gets_its_weights_with_the_model():
    class Wordwise(Encoder):
        """Features of each word alone, from layers that a call builds."""

        def __init__(self):
            super().__init__()
            self.embedding = keras.layers.Embedding(13, 4)
            self.dense = keras.layers.Dense(8)
            self.memory_units, self.state_size = 8, [[[4], [4]]]

        def call(self, source_ids, training=False):
            annotations = self.dense(self.embedding(source_ids))
            mask = keras.ops.not_equal(source_ids, PAD_ID)
            first, last = annotations[:, 0, :4], annotations[:, -1, 4:]
            return annotations, mask, [[[first], [last]]]

    parts = bahdanau_gru(13, units=4, embedding_dim=4)
    model = Seq2Seq(Wordwise(), parts.bridge, parts.decoder)
    assert [tuple(weight.shape) for weight in model.encoder.weights] == [(13, 4), (4, 8), (8,)]


@pytest.mark.thorough("test_loading.py shows it")
def test_file_of_a_model_that_is_not_compiled(make_model, batch, tmp_path):
    model = make_model()
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(copy(batch[0]), model(batch[0]))
    copy.compile()
    assert copy.label_smoothing == 0.1


@keras.saving.register_keras_serializable("tests")
class WithFurtherLayer(RecurrentEncoder):
    """An encoder of the library with one more layer, which a call builds."""

    def __init__(self, embedding, layers, **options):
        super().__init__(embedding, layers, **options)
        self.further = keras.layers.Dense(8)

    def call(self, *inputs, **options):
        annotations, mask, states = super().call(*inputs, **options)
        return self.further(annotations), mask, states


def test_a_further_layer_of_a_subclass_is_saved(batch, tmp_path):
    parts = bahdanau_gru(13, units=4, embedding_dim=4)
    encoder = WithFurtherLayer.from_config(parts.encoder.get_config())
    model = Seq2Seq(encoder, parts.bridge, parts.decoder)
    model.save(tmp_path / "model.keras")
    copy = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(copy(batch[0]), model(batch[0]))

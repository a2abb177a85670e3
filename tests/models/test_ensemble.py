"""Ensembles of models."""

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import Ensemble
from kerasnmt.text import CharacterTokenizer
from kerasnmt.zoo import (
    bahdanau_gru,
    encoder_decoder_gru,
    luong_general_lstm,
    pointer_generator_gru,
    pointer_network_lstm,
    show_attend_tell_lstm,
)
from tests.numerics import fill

SOURCE = np.array([[5, 9, 4, 10, 3], [6, 6, 3, 0, 0]], "int32")
OPTIONS = {"beam_size": 3, "n_best": 3, "max_length": 6, "with_records": True}


def make(constructor=bahdanau_gru, seed=0, vocabulary=11, **options):
    model = constructor(vocabulary, embedding_dim=6, dropout=0.0, **{"units": 5, **options})
    return fill(model, seed)


def equal(one, other):
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-5)
    assert one.records.keys() == other.records.keys()
    for name in one.records:
        np.testing.assert_allclose(one.records[name], other.records[name], atol=1e-5)


@pytest.mark.thorough("`test_a_step_is_the_mean_of_probabilities` shows other members")
@pytest.mark.parametrize("constructor", [bahdanau_gru, pointer_generator_gru])
def test_an_ensemble_of_one_or_of_copies_is_the_model(constructor):
    model = make(constructor)
    expected = model.search(SOURCE, **OPTIONS)
    equal(Ensemble([model]).search(SOURCE, **OPTIONS), expected)
    equal(Ensemble([model, model, model]).search(SOURCE, **OPTIONS), expected)


def test_a_step_is_the_mean_of_probabilities():
    models = [make(), make(luong_general_lstm, 1, units=4), make(seed=2, units=3)]
    ensemble = Ensemble(models)
    ids = np.array([[2, 7], [4, 5]], "int32")
    states, memory = ensemble.encode({"source_ids": SOURCE})
    states = keras.tree.map_structure(lambda s: np.repeat(np.array(s)[:, None], 2, 1), states)
    found, records, _ = ensemble.step(ids, states, memory)
    steps = [model.step(ids, s, m) for model, s, m in zip(models, states, memory, strict=True)]
    mean = np.mean([np.exp(log) for log, _, _ in steps], axis=0)
    np.testing.assert_allclose(np.exp(found), mean, atol=1e-6)
    np.testing.assert_allclose(np.sum(np.exp(found), axis=-1), 1.0, atol=1e-5)
    weights = np.mean([record["weights"] for _, record, _ in steps], axis=0)
    np.testing.assert_allclose(records["weights"], weights, atol=1e-6)
    # The probabilities of given targets equal the probabilities of single steps.
    best = ensemble.search(SOURCE, beam_size=4, max_length=5, length_penalty=0.0)
    targets = np.array(best.ids[:, 0])
    fed = np.where(targets == 3, 0, targets)[:, :-1]
    inputs = {"source_ids": SOURCE, "target_ids": np.insert(fed, 0, 2, axis=1)}
    of_tokens = ensemble.token_log_probability(inputs, targets)
    total = np.sum(np.where(targets != 0, of_tokens, 0.0), axis=1)
    np.testing.assert_allclose(total, best.scores[:, 0], rtol=1e-5)
    attended = ensemble.attend(inputs)["weights"]
    mean = np.mean([model.attend(inputs)["weights"] for model in models], axis=0)
    np.testing.assert_allclose(attended, mean, atol=1e-6)
    # The probabilities of all tokens include the targets', and sum to 1.
    log_probabilities, records = ensemble.inspect(inputs)
    own = np.take_along_axis(np.asarray(log_probabilities), targets[..., None], axis=-1)[..., 0]
    np.testing.assert_allclose(own, of_tokens, atol=1e-5)
    np.testing.assert_allclose(np.sum(np.exp(log_probabilities), axis=-1), 1.0, atol=1e-5)
    np.testing.assert_allclose(records["weights"], attended, atol=1e-6)


def test_members_without_attention():
    ensemble = Ensemble([make(), make(encoder_decoder_gru)])
    assert not ensemble.has_attention
    assert ensemble.search(SOURCE, **OPTIONS).records == {}
    with pytest.raises(ValueError, match="Expected a model with attention"):
        ensemble.search(SOURCE, coverage_penalty=0.2)


def test_an_ensemble_is_not_trained():
    ensemble = Ensemble([make()])
    for method in (ensemble, ensemble.compile, ensemble.fit, ensemble.evaluate, ensemble.predict):
        with pytest.raises(ValueError, match=r"^Expected one model to train.*Train each of its"):
            method(SOURCE)


@pytest.mark.usefixtures("eagerly")
@pytest.mark.thorough("members that share one tokenizer translate too")
def test_text_in_text_out(make_text_model, tmp_path):
    models = [make_text_model(seed=1), make_text_model(seed=2)]
    ensemble = Ensemble(models, name="pair")
    texts = ["two dogs run .", "a man", "cat ."]
    options = {"beam_size": 2, "max_length": 8}
    *translations, nothing = ensemble.translate([*texts, ""], **options)
    assert nothing == ""
    of_the_first = models[0].translate(texts, **options)
    assert Ensemble(models[:1]).translate(texts, **options) == of_the_first != translations
    scores = ensemble.score(texts[:2], translations[:2])
    own = np.exp([model.score(texts[:2], translations[:2]) for model in models])
    assert np.all(np.exp(scores) < own.max(axis=0) + 1e-6)
    assert len(ensemble.align(texts[:2], translations[:2])) == 2

    ensemble.save(tmp_path / "pair.keras")
    loaded = keras.saving.load_model(tmp_path / "pair.keras")
    assert loaded.translate(texts, **options) == translations


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    "members", [2, pytest.param(3, marks=pytest.mark.thorough("two members show it"))]
)
def test_members_that_share_one_tokenizer_are_loaded_again(make_shared_model, members, tmp_path):
    ensemble = Ensemble([make_shared_model(seed) for seed in range(members)])
    texts = ["two dogs run .", "a man"]
    options = {"beam_size": 1, "max_length": 8}
    expected = ensemble.translate(texts, **options)
    ensemble.save(tmp_path / "ensemble.keras")
    loaded = keras.saving.load_model(tmp_path / "ensemble.keras")
    assert loaded.translate(texts, **options) == expected


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], r"Expected at least one model"),
        ([make, lambda: make(pointer_network_lstm)], r"all copy .*pointer_network_lstm, which"),
        (
            [make, lambda: show_attend_tell_lstm(11, image_size=4, filters=(2,), units=2)],
            r"models that translate\. Received: show_attend_tell_lstm, a CaptionModel\.$",
        ),
    ],
)
def test_models_that_do_not_go_together(models, message):
    with pytest.raises(ValueError, match=message):
        Ensemble([make_one() for make_one in models])


def test_other_tokenizers(make_text_model):
    one, other = make_text_model(), make_text_model(words=["dog", "cat"])
    message = r"models\[0\], bahdanau_gru, and models\[1\], .* with different source_tokenizers"
    with pytest.raises(ValueError, match=message):
        Ensemble([one, other])
    Ensemble([one, make_text_model(seed=5)])  # equal, though not the same object


def test_other_vocabularies():
    ensemble = Ensemble([make(), make(vocabulary=12)])
    with pytest.raises(ValueError, match=r"same target vocabulary. Received: sizes \[11, 12\]"):
        ensemble.search(SOURCE)


@pytest.mark.usefixtures("eagerly")
def test_a_language_is_kept(tmp_path):
    characters = CharacterTokenizer(["<deu>", "<nld>", "a", "b"])
    members = [zoo.bahdanau_gru(characters, embedding_dim=4, units=4) for _ in range(2)]
    ensemble = Ensemble(members)
    ensemble.set_language("de")
    few = {"beam_size": 1, "max_length": 4}
    ensemble.save(tmp_path / "ensemble.keras")
    loaded = keras.saving.load_model(tmp_path / "ensemble.keras")
    for one in (ensemble, loaded, keras.models.clone_model(ensemble)):
        assert one.source_tokenizer.default_tags == "<deu>"
        assert one.n_best("ab", **few) == one.n_best("<deu>ab", **few)

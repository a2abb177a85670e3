"""The search options that a model keeps, for calls that leave them out."""

import warnings

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import Ensemble
from kerasnmt.presets import Preset
from kerasnmt.serving.runtimes.export_module import ExportModule, options_without_texts
from kerasnmt.tasks.task import with_own_options

pytestmark = pytest.mark.usefixtures("eagerly")

TEXTS = ["two dogs", "man"]
OPTIONS = {"beam_size": 2, "max_length": 9, "split_words": True}


@pytest.fixture
def model(make_text_model):
    model = make_text_model()
    model.search_options = OPTIONS
    return model


def test_a_call_has_the_options_of_the_model_that_it_leaves_out(model, make_text_model):
    plain = make_text_model()
    two, dogs, man = plain.translate(["two", "dogs", "man"], beam_size=2, max_length=9)
    expected = [f"{two} {dogs}", man]
    assert model.translate(TEXTS) == plain.translate(TEXTS, **OPTIONS) == expected
    assert expected != plain.translate(TEXTS)
    changed = {"beam_size": 1, "split_words": False}
    assert model.translate(TEXTS, **changed) == plain.translate(TEXTS, **{**OPTIONS, **changed})
    assert "".join(model.stream(TEXTS[0])) == expected[0]
    assert [one.text for one in model.confidence(TEXTS)] == expected
    assert model.n_best("man") == plain.n_best("man", **OPTIONS)
    assert model.score(TEXTS, ["ab", "c"]) == plain.score(TEXTS, ["ab", "c"])


def test_copies_of_the_model_keep_them(model, tmp_path):
    model.save(tmp_path / "model.keras")
    model.save_to_preset(tmp_path / "preset", weights="float32")
    model.save_to_preset(tmp_path / "other", about={"search": {"beam_size": 1}})
    other = Preset(tmp_path / "other").load()
    assert other.search_options == {"beam_size": 1}
    preset = Preset(tmp_path / "preset")
    assert preset.search == OPTIONS
    for copy in (
        keras.saving.load_model(tmp_path / "model.keras"),
        keras.models.clone_model(model),
        preset.load(),
    ):
        assert copy.search_options == OPTIONS
    assert preset.load().translate(TEXTS) == model.translate(TEXTS)


def test_every_export_has_them(model):
    for given in ({}, {"beam_size": 1}):
        description = ExportModule(model, **given).description
        assert description.items() >= {**OPTIONS, **given}.items()
        assert with_own_options(model, given) == {**OPTIONS, **given}


def test_one_of_them_is_changed(model, make_text_model, tmp_path):
    model.search_options["beam_size"] = 1
    expected = make_text_model().translate(TEXTS, **{**OPTIONS, "beam_size": 1})
    assert model.translate(TEXTS) == expected
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.search_options == {**OPTIONS, "beam_size": 1}
    model.search_options["beam_sise"] = 3
    with pytest.raises(ValueError, match="beam_sise"):
        model.save(tmp_path / "model.keras")
    del model.search_options["beam_sise"]
    model.search_options["beam_size"] = 0
    with pytest.raises(ValueError, match="beam_size"):
        model.translate(TEXTS)


@pytest.mark.parametrize("value", [None, 5, "beam", [("beam_size", 3)], {1: 2}])
def test_only_a_dict_is_taken(make_text_model, value):
    with pytest.raises(ValueError, match=r"Expected a dict of search options, such as"):
        make_text_model().search_options = value


def test_wrong_options(model):
    with pytest.raises(ValueError, match="unknown search option 'beam_sise'; did you mean"):
        model.search_options = {"beam_sise": 2}
    with pytest.raises(ValueError, match=r"sentences or words.*The model has search_options="):
        model.translate(TEXTS, split_sentences=True)
    assert model.search_options == OPTIONS


@pytest.mark.parametrize(
    ("own", "option"),
    [
        ({"replace_unknown": True}, {"dictionary": {"a": "b"}}),
        ({"samples": 1}, {"temperature": 0.5}),
        ({"max_length": 200}, {"min_length": 150}),
    ],
    ids=str,
)
def test_an_option_may_need_one_of_the_model(make_shared_model, own, option):
    model = make_shared_model()
    expected = model._searcher({**own, **option}).description
    model.search_options = own
    assert model._searcher(option).description == expected


def test_values_are_the_models_own(model, tmp_path):
    given = {"beam_size": np.int64(2), "lexicon": {"a": "b"}}
    model.search_options = given
    given["lexicon"]["a"] = "c"
    assert model.search_options == {"beam_size": 2, "lexicon": {"a": "b"}}
    model.save_to_preset(tmp_path / "preset")
    assert Preset(tmp_path / "preset").search == {"beam_size": 2, "lexicon": {"a": "b"}}


def test_an_ensemble_has_those_of_its_first_member(model):
    ensemble = Ensemble([model, model])
    assert ensemble.search_options == OPTIONS
    assert ensemble.translate(TEXTS) == model.translate(TEXTS)


def test_a_model_that_does_not_search_has_none():
    network = zoo.memory_network(11, embedding_dim=4)
    network.search_options = {}
    with pytest.raises(ValueError, match="no search options, because memory_network does not"):
        network.search_options = {"beam_size": 2}
    with pytest.raises(ValueError, match="unknown search option 'split_words'"):
        zoo.show_attend_tell_lstm(11, units=4).search_options = {"split_words": True}


def test_options_of_texts_are_left_out_with_a_warning(model):
    with pytest.warns(UserWarning, match="exports for LiteRT do not split texts into words, as"):
        options = options_without_texts(model, {"beam_size": 1}, "LiteRT")
    assert options == {**OPTIONS, "beam_size": 1, "split_words": False}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert options_without_texts(model, {"split_words": True}, "LiteRT") == OPTIONS
        assert options_without_texts(model, {"split_words": False}, "LiteRT") == {
            **OPTIONS,
            "split_words": False,
        }

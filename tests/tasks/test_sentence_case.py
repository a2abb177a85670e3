"""Texts in capitals, or without any, are translated as sentences, by all methods of a model."""

import numpy as np
import pytest

from kerasnmt.text import WordTokenizer

pytestmark = pytest.mark.usefixtures("eagerly")

CAPITALS, NORMAL, LOWERCASE = "TWO DOGS RUN .", "Two dogs run .", "two dogs run ."
OPTIONS = {"beam_size": 3, "max_length": 8, "allow_unknown": False}
CASED = {"sentence_case": True, **OPTIONS}


@pytest.fixture(scope="module")
def model(make_translator_model):
    """A model with the capitals of the sentence in its vocabulary, which change translations."""
    return make_translator_model(source=WordTokenizer(["Two", "TWO", "dogs", "run", "."]))


def test_translations(model):
    normal = model.translate(NORMAL, **OPTIONS)
    assert normal != normal.upper() != model.translate(CAPITALS, **OPTIONS).upper()
    texts = [CAPITALS, NORMAL, LOWERCASE, "", "TWO"]
    one = model.translate("TWO", **CASED)
    assert model.translate(texts, **CASED) == [normal.upper(), normal, normal, "", one]
    assert one == model.translate("Two", **OPTIONS).upper()
    (first, *_), (other, *_) = model.n_best([CAPITALS, NORMAL], **CASED)
    assert first == (other[0].upper(), pytest.approx(other[1], abs=1e-5))
    assert "".join(model.stream(CAPITALS, **CASED)) == normal.upper()


def test_the_sentences_of_a_text_have_their_own_case(model):
    both = model.translate(f"{CAPITALS[:-2]}! {NORMAL}", split_sentences=True, **CASED)
    alone = model.translate([f"{NORMAL[:-2]}!", NORMAL], **OPTIONS)
    assert both == f"{alone[0].upper()} {alone[1]}"


def test_tokens_are_those_of_the_model(model):
    found, normal = model.confidence([CAPITALS, NORMAL], **CASED)
    assert (found.text, found.words) == (normal.text.upper(), normal.words)
    np.testing.assert_allclose(found.probabilities, normal.probabilities, atol=1e-5)
    found, normal = model.attention([CAPITALS, NORMAL], **CASED)
    assert found.source_tokens == normal.source_tokens  # those that the model reads
    assert found.target_tokens == normal.target_tokens
    np.testing.assert_allclose(found.weights, normal.weights, atol=1e-6)


def test_prefixes_and_terms_have_their_own_case(model):
    texts = [CAPITALS] * 4
    found = model.translate(texts, prefixes=["", "C", "c", "1"], **CASED)
    expected = model.translate([NORMAL] * 4, prefixes=["", "C", "c", "1"], **OPTIONS)
    assert found[2] == expected[2]
    assert [found[place] for place in (0, 1, 3)] == [expected[place].upper() for place in (0, 1, 3)]
    for prefix, translation in zip(["", "C", "c"], found, strict=False):
        assert "".join(model.stream(CAPITALS, prefix=prefix or None, **CASED)) == translation
    found = model.translate(texts[:2], terms=[["c"], []], **CASED)
    assert found == [model.translate(NORMAL, terms=["c"], **OPTIONS), expected[0].upper()]


def test_given_translations_are_read_in_sentence_case(model, monkeypatch, tmp_path):
    from kerasnmt.cli.loading import load_run_translator
    from kerasnmt.tasks import Translator, task_of

    translator = Translator(task_of(model, **CASED))
    ((text, _),) = translator.best([CAPITALS])
    given = [NORMAL] * 2, [text[:1] + text[1:].lower(), text.lower()]
    scores, links = model.score(*given), model.align(*given)
    monkeypatch.setattr(model, "search_options", CASED)
    model.save_to_preset(tmp_path / "preset", weights="float32")
    for reader in (translator, model, load_run_translator(tmp_path / "preset")):
        given = [CAPITALS, NORMAL], [text, text.lower()]
        np.testing.assert_allclose(reader.score(*given), scores, rtol=1e-5)
        assert reader.align(*given) == links

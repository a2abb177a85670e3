"""One text, and pandas Series, in place of lists."""

import re

import numpy as np
import pandas
import pytest

from kerasnmt.tasks import Translator, task_of

pytestmark = pytest.mark.usefixtures("eagerly")

OPTIONS = {"beam_size": 3, "max_length": 6}
TEXTS = ["two dogs run .", "", "مرحبا 犬 dog"]
TARGETS = ["abc d", "", "e"]


def test_n_best_of_a_model_is_that_of_its_translator(word_model):
    expected = Translator(task_of(word_model, **OPTIONS)).n_best(TEXTS)
    assert word_model.n_best(TEXTS, **OPTIONS) == expected
    assert word_model.n_best(iter(TEXTS), batch_size=1, **OPTIONS)[0][0][0] == expected[0][0][0]
    best = word_model.translate(TEXTS, **OPTIONS)
    assert [ranked[0][0] for ranked in expected] == best
    assert [len(ranked) for ranked in expected] == [3, 1, 3] and expected[1] == [("", 0.0)]
    samples = word_model.n_best("dog", samples=4, seed=1, max_length=6)
    assert 1 < len(samples) <= 4
    with pytest.raises(ValueError, match="beam_sise"):
        word_model.n_best("dog", beam_sise=3)
    with pytest.raises(ValueError, match="split_sentences"):
        word_model.n_best("dog", split_sentences=True)


@pytest.mark.parametrize("text", [*TEXTS, np.str_("dog\nrun")])
def test_one_string_gives_one_result(word_model, text):
    several = [text, "two dogs"]
    assert word_model.translate(text, **OPTIONS) == word_model.translate(several, **OPTIONS)[0]
    ((best, score), *_) = word_model.n_best(text, **OPTIONS)
    assert (best, score) == pytest.approx(word_model.n_best(several, **OPTIONS)[0][0])
    scored = word_model.score(text, "a b")
    assert isinstance(scored, float)
    assert scored == pytest.approx(word_model.score(several, ["a b", "c"])[0], abs=1e-5)
    assert word_model.align(text, "a b") == word_model.align(several, ["a b", "c"])[0]
    one = word_model.attention(text, **OPTIONS)
    assert one.source_tokens == word_model.attention(several, **OPTIONS)[0].source_tokens


def test_one_string_with_a_prefix_and_a_context(make_pointer_model):
    model = make_pointer_model("context_attention_gru")
    begun = model.translate("two dogs", contexts="a man", prefixes="dog", **OPTIONS)
    assert begun.split()[0] == "dog"
    assert [begun] == model.translate(["two dogs"], contexts=["a man"], prefixes=["dog"], **OPTIONS)
    for wrong in (["a man"], pandas.Series(["a man"])):
        message = "Expected one string of contexts, because texts is one string. Received: con"
        with pytest.raises(ValueError, match=message):
            model.translate("two dogs", contexts=wrong)
    with pytest.raises(ValueError, match=r"a list of texts\. Received: contexts='a man', o"):
        model.translate(["two dogs"], contexts="a man")
    with pytest.raises(TypeError, match="multiple values for argument 'texts'"):
        Translator(task_of(model)).translate("a", texts="a")


@pytest.mark.parametrize(
    "index", [[7, 7, -1], ["a", "é", "犬"], pandas.date_range("2020", None, 3)]
)
def test_a_series_gives_a_series_with_its_index(word_model, index):
    texts, targets = pandas.Series(TEXTS, index, name="en"), pandas.Series(TARGETS, index)
    results = {
        "translate": (
            word_model.translate(texts, **OPTIONS),
            word_model.translate(TEXTS, **OPTIONS),
        ),
        "n_best": (word_model.n_best(texts, **OPTIONS), word_model.n_best(TEXTS, **OPTIONS)),
        "score": (word_model.score(texts, targets), word_model.score(TEXTS, TARGETS)),
        "align": (word_model.align(texts, TARGETS), word_model.align(TEXTS, TARGETS)),
    }
    for name, (series, expected) in results.items():
        assert isinstance(series, pandas.Series), name
        assert series.index.equals(texts.index) and series.tolist() == expected, name
    assert results["score"][0].dtype == "float64"
    attended = word_model.attention(texts, **OPTIONS)
    assert [one.source_tokens[-1] for one in attended] == ["</s>"] * 3
    frame = pandas.DataFrame({"en": texts})
    frame["de"] = word_model.translate(frame["en"], **OPTIONS)
    assert frame["de"].tolist() == results["translate"][1]
    assert word_model.translate(texts[:0], **OPTIONS).empty


def test_series_with_other_indexes_are_not_paired_by_order(word_model):
    texts, targets = pandas.Series(TEXTS), pandas.Series(TARGETS, [2, 1, 0])
    message = "Expected sources and targets with the same index. Received: two Series with differ"
    with pytest.raises(ValueError, match=re.escape(message)):
        word_model.score(texts, targets)
    assert word_model.score(texts, targets.tolist()).tolist() == word_model.score(TEXTS, TARGETS)
    with pytest.raises(ValueError, match="item 2 is"):
        word_model.translate(pandas.Series(["dog", None]))

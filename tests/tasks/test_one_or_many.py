"""One text, and pandas Series, in place of lists."""

import re

import numpy as np
import pandas
import pytest
import tensorflow as tf

from kerasnmt.tasks import Translator, task_of
from kerasnmt.tasks.one_or_many import one_or_many

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
    further = {"split_words": True, "lexicon": {"dog": "never"}}
    for method in (word_model.n_best, word_model.attention, word_model.n_best_confidence):
        assert repr(method("dog", **OPTIONS, **further)) == repr(method("dog", **OPTIONS))


def test_one_string_and_a_series_give_the_results_of_a_list(word_model):
    index = ["a", "é", "犬"]
    texts, targets = pandas.Series(TEXTS, index, name="en"), pandas.Series(TARGETS, index)
    methods = {
        "translate": lambda texts, _: word_model.translate(texts, **OPTIONS),
        "n_best": lambda texts, _: word_model.n_best(texts, **OPTIONS),
        "score": word_model.score,
        "align": word_model.align,
        "attention": lambda texts, _: tokens(word_model.attention(texts, **OPTIONS)),
    }
    for name, method in methods.items():
        expected = method(TEXTS, TARGETS)
        series = method(texts, targets)
        assert isinstance(series, pandas.Series), name
        assert series.index.equals(texts.index) and series.tolist() == expected, name
        one = method(np.array(TEXTS[2]), tf.constant(TARGETS[2]))
        if name == "score":  # a batch rounds differently than one row
            assert isinstance(one, float) and series.dtype == "float64"
            assert one == pytest.approx(expected[2], abs=1e-5)
        elif name == "n_best":
            assert [text for text, _ in one] == [text for text, _ in expected[2]]
            assert [s for _, s in one] == pytest.approx([s for _, s in expected[2]], abs=1e-5)
        else:
            assert one == expected[2], name


def tokens(attended):
    """Return the tokens of attention, or of a list or Series of it."""
    if isinstance(attended, pandas.Series):
        return attended.map(tokens)
    if isinstance(attended, list):
        return [*map(tokens, attended)]
    return attended.source_tokens, attended.target_tokens


class Lengths:
    """Methods of this kind without a model."""

    @one_or_many
    def measure(self, texts, *, contexts=None, terms=None):
        """Return the lengths of texts and contexts, and the terms."""
        columns = [[*column] for column in (texts, contexts, terms) if column is not None]
        return [tuple(map(len, row[:2])) + row[2:] for row in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    "index", [[7, 7, -1], ["a", "é", "犬"], pandas.date_range("2020", None, 3)]
)
def test_a_series_gives_a_series_with_its_index(index):
    texts = pandas.Series(["two", "", "犬 d"], index, name="en")
    found = Lengths().measure(texts, contexts=pandas.Series(["a", "bc", ""], index))
    assert found.index.equals(texts.index) and found.tolist() == [(3, 1), (0, 2), (3, 0)]
    assert Lengths().measure(texts=texts, contexts=["a", "", ""]).tolist()[1] == (0, 0)
    frame = pandas.DataFrame({"en": texts})
    frame["length"] = Lengths().measure(frame["en"])
    assert frame["length"].tolist() == [(3,), (0,), (3,)]
    assert Lengths().measure(texts[:0]).empty


@pytest.mark.parametrize("text", ["", "dog", np.str_("dog\nrun")])
def test_one_string_is_a_row(text):
    assert Lengths().measure(text) == (len(text),)
    assert Lengths().measure(text, contexts="ab", terms=["x", "y"]) == (len(text), 2, ["x", "y"])


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


COLUMNS = {
    "contexts": ["a man", "", "dog"],
    "prefixes": ["a", "b", ""],
    "terms": [["ab"], [], ["c"]],
    "forbidden": [["d"], ["e"], []],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_no_column_of_another_index_is_paired_by_order(word_model, name):
    texts, other = pandas.Series(TEXTS), pandas.Series(COLUMNS[name], [2, 1, 0])
    message = f"Expected texts and {name} with the same index. Received: two pandas columns"
    with pytest.raises(ValueError, match=re.escape(message)):
        word_model.translate(texts, **{name: other})
    if name == "terms":
        found = word_model.translate(texts, terms=other.sort_index(), **OPTIONS).tolist()
        assert found == word_model.translate(TEXTS, terms=COLUMNS[name][::-1], **OPTIONS)
        with pytest.raises(ValueError, match="Expected terms and forbidden with the same index"):
            word_model.translate(TEXTS, terms=other, forbidden=other.sort_index())


def test_series_with_other_indexes_are_not_paired_by_order(word_model):
    texts, targets = pandas.Series(TEXTS), pandas.Series(TARGETS, [2, 1, 0])
    message = "Expected sources and targets with the same index. Received: two pandas columns with"
    with pytest.raises(ValueError, match=re.escape(message)):
        word_model.score(texts, targets)
    assert word_model.score(texts, targets.tolist()).tolist() == word_model.score(TEXTS, TARGETS)
    with pytest.raises(ValueError, match="item 2 is"):
        word_model.translate(pandas.Series(["dog", None]))

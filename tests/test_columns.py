import re

import numpy as np
import pandas
import pytest
import tensorflow as tf

from kerasnmt.columns import as_list, as_texts, as_weights
from kerasnmt.data import batches
from kerasnmt.data.text_batches import counted_batches
from kerasnmt.text import CharacterTokenizer, PlainWordTokenizer, WordTokenizer
from kerasnmt.text.rows import rows

TEXTS = ["two dogs", "", "schön 犬"]


def test_texts_are_str_in_order(holding):
    texts = as_texts("texts", holding(TEXTS))
    assert texts == TEXTS
    assert {*map(type, texts)} == {str}
    assert as_texts("texts", holding(TEXTS[:0])) == []


def test_what_is_no_text_is_refused_in_one_line(no_texts):
    values, message = no_texts
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        as_texts("texts", values)
    assert str(caught.value).startswith("Expected a list of texts. Received: texts")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (tf.constant("dog"), "texts='dog', one string"),
        (tf.constant([1, 2]), f"item 1 is {np.int32(1)!r}, of type int32"),
        (np.array([["dog", "cat"]]), "whose item 1 is array"),
        (pandas.Series(["dog", None]), "item 2 is "),
        (pandas.DataFrame({"text": ["dog"] * 99}), "of type DataFrame"),
        (b"dog" * 99, ", of type bytes"),
    ],
)
def test_what_looks_like_texts_is_refused_in_one_line(values, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        as_texts("texts", values)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


def test_bytes_of_a_tensor_that_are_not_utf_8():
    assert as_texts("texts", tf.constant([b"a\xff", "é"])) == ["a\ufffd", "é"]


def test_rows_that_are_no_texts():
    images = np.zeros([2, 3, 3, 1], "uint8")
    assert [one.shape for one in as_list("images", images, "images")] == [(3, 3, 1)] * 2
    assert as_list("images", (b"png" for _ in range(2)), "images") == [b"png", b"png"]
    for values in (None, b"png", "file.png", 7):
        with pytest.raises(ValueError, match=r"Expected a list of images\. Received: images="):
            as_list("images", values, "images")


def test_pandas_columns_of_two_indexes_are_not_paired_by_order(word_model):
    sources, targets = pandas.Series(["ab", "c"]), pandas.Series(["d", "e"], [1, 0])
    frame = pandas.DataFrame({"source": sources, "target": ["d", "e"]})
    tokenizer = CharacterTokenizer("abcde")
    tries = {
        "sources and targets": lambda: rows((sources, targets)),
        "pairs and sample_weight": lambda: batches(frame, tokenizer, sample_weight=targets),
        "pairs and contexts": lambda: batches((sources, ["d"] * 2), tokenizer, contexts=targets),
        "sources and references": lambda: word_model.calibrate(sources, targets),
    }
    for names, pair in tries.items():
        with pytest.raises(ValueError, match=f"Expected {names} with the same index"):
            pair()
    with pytest.raises(ValueError, match="Expected sources and targets with the same index"):
        word_model.make_shortlist(sources, targets)
    with pytest.raises(ValueError, match="Expected pairs and sample_weight with the same index"):
        counted_batches((sources, sources), tokenizer, None, sample_weight=targets)
    assert rows((sources, targets.tolist())) == [("ab", "d"), ("c", "e")]


def test_columns_become_pairs(holding):
    columns = holding(["a", "b", "c"]), holding(["x", "y", "z"])
    if holding is tuple:
        with pytest.raises(ValueError, match="two columns or two pairs"):
            rows(columns)
    else:
        assert [*rows(columns)] == [("a", "x"), ("b", "y"), ("c", "z")]


def test_a_tensor_of_pairs():
    assert [*rows(tf.constant([["a", "x"], ["b", "é"]]))] == [("a", "x"), ("b", "é")]
    with pytest.raises(ValueError, match=r"an array of shape \(1, 3\)"):
        rows(tf.constant([["a", "x", "b"]]))


@pytest.mark.parametrize(
    ("tokenizer", "expected", "counts"),
    [
        (WordTokenizer, ["b", "a"], [0, 1, 0, 2, 3, 1]),
        (PlainWordTokenizer, ["b", "a"], [0, 1, 0, 2, 3, 1]),
        (CharacterTokenizer, [" ", "b"], [0, 2, 0, 2, 3, 3]),
    ],
)
def test_tokenizers_train_on_whatever_holds_texts(tokenizer, expected, counts, holding):
    trained = tokenizer.train(holding(["b a b", "c b"]), 6).get_config()
    assert [*trained.values()][:2] == [expected, counts]


@pytest.mark.parametrize("corpus", [None, b"dog", 7, "dog", {"dog": 1}])
def test_tokenizers_train_on_nothing_else(corpus):
    with pytest.raises(ValueError, match=r"an iterable of strings .* Received: dataset=") as caught:
        WordTokenizer.train(corpus)
    assert "\n" not in str(caught.value)


def test_a_vocabulary_is_a_column_of_texts(holding, no_texts):
    tokenizer = WordTokenizer(holding(["b", "a"]))
    assert tokenizer.get_config()["words"] == ["b", "a"]
    values, message = no_texts
    with pytest.raises(ValueError, match=re.escape(f"Received: words{message}")):
        WordTokenizer(values)


def test_half_of_a_surrogate_pair_is_the_replacement_character():
    assert as_texts("texts", ["a\ud800b", "\ud83d\ude00", "犬\udc80"]) == [
        "a\ufffdb",
        "😀",
        "犬\ufffd",
    ]


@pytest.mark.parametrize("weights", [[1.0, 1e39], [0, 0.0]])
def test_weights_that_train_nothing_or_overflow(weights):
    with pytest.raises(ValueError, match=r"Received: sample_weight,? whose item"):
        as_weights("sample_weight", weights)

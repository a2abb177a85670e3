import pytest
import tensorflow as tf

from kerasnmt.text.sentences import sentences

PAIRS = [("one", "eins"), ("two", ""), ("  ", "drei")]
IN_ORDER = ["one", "eins", "two", "drei"]


def test_an_iterable_of_strings_or_pairs_is_flattened_without_blanks():
    assert list(sentences(PAIRS)) == IN_ORDER
    assert list(sentences(iter(["b", "", "a", "a"]))) == ["b", "a", "a"]
    assert list(sentences([("one", "eins", (0, 0))])) == ["one", "eins"]
    assert list(sentences(lambda: PAIRS)) == IN_ORDER


def test_two_columns_are_read_whole():
    columns = ["a", "b", "c"], ["x", "y", "z"]
    assert list(sentences(columns)) == ["a", "x", "b", "y", "c", "z"]
    with pytest.raises(ValueError, match="two columns or two pairs"):
        list(sentences(list(columns)))


@pytest.mark.graph
def test_a_dataset_gives_the_same_sentences_batched_or_not():
    dataset = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*PAIRS, strict=True))))
    assert sorted(sentences(dataset)) == sorted(IN_ORDER)
    assert list(sentences(dataset.batch(2))) == ["one", "two", "eins", "drei"]
    assert list(sentences(tf.data.Dataset.from_tensor_slices(["é", b"\xff"]))) == ["é", "\ufffd"]


@pytest.mark.graph
@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ("one sentence", "Expected a dataset or an iterable .* Received: dataset='one sentence'"),
        (7, "Received: dataset=7"),
        ([("a", 1)], r"pairs of str. Received: an element \('a', 1\)"),
        ([None], "Received: an element None"),
        ((["a", "b", "c"], ["x", "y", None]), r"Received: an element \['a', 'b', 'c'\]. Leave oth"),
        ([("one", "eins", "context")], r"Received: an element \('one', 'eins', 'context'\)"),
        ([("one", "eins", 0.5)], "Received: an element"),
        ([], "at least one sentence that is not blank.*which has none"),
        (["", " \t"], "at least one sentence that is not blank.*which has none"),
        (tf.data.Dataset.range(3), "Expected a dataset of strings .* element_spec"),
        (tf.data.Dataset.from_tensors("a").repeat(), "Received: an infinite dataset. Take a part"),
        (tf.data.Dataset.from_tensors("").skip(1), "at least one sentence that is not blank"),
    ],
)
def test_what_is_no_corpus_is_refused(corpus, message):
    with pytest.raises(ValueError, match=message):
        list(sentences(corpus))

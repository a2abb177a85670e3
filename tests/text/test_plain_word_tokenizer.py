import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.text import PlainWordTokenizer
from kerasnmt.text.stories import story_ids
from kerasnmt.text.targets import padded

TOKENIZER = PlainWordTokenizer(["mary", "don't", "milk,apple", "émile", "3.5"])


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Where is Mary?", [1, 1, 4]),
        ("«MARY» -- (don't!)", [4, 5]),
        ("milk,apple milk , apple", [6, 1, 1]),
        ("ÉMILE $3.5", [7, 8]),
        (" ... ? \t\n", []),
        ("", []),
        ("<pad> <s>", [1, 1]),
    ],
)
def test_words(text, ids):
    assert TOKENIZER.tokenize([text]).to_list() == [ids]


@pytest.mark.graph
def test_any_bytes():
    texts = [b"\xff mary\xff", b"ma\xffry", b"mary\0x", b"\xed\xa0\x80"]
    ids = tf.function(TOKENIZER.tokenize)(tf.constant(texts)).to_list()
    assert ids == [[4], [1, 1], [4, 1], []]


def test_trained_words_equal_the_words_read():
    texts = ["Mary went.", "mary WENT; mary?", "... Ö ö"]
    tokenizer = PlainWordTokenizer.train(texts)
    assert tokenizer.get_config() == {
        "words": ["mary", "went", "ö"],
        "counts": [0, 0, 0, 3, 3, 2, 2],
    }
    assert PlainWordTokenizer.train(texts, 5).get_config()["words"] == ["mary"]
    assert tokenizer.tokenize(texts).to_list() == [[4, 5], [4, 5, 4], [6, 6]]
    assert tokenizer.detokenize(tf.constant([[4, 5, 0]])).numpy().tolist() == [b"mary went"]
    assert PlainWordTokenizer.train(texts, 8).get_config() == tokenizer.get_config()
    with pytest.raises(ValueError, match="Expected a corpus with words or characters"):
        PlainWordTokenizer.train(["...", "?"], 5)


def test_serialisation():
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(TOKENIZER))
    assert type(copy) is PlainWordTokenizer and copy.get_config() == TOKENIZER.get_config()
    assert copy.tokenize(["MARY!"]).to_list() == [[4]]


def test_stories_of_ids():
    stories = tf.ragged.constant([["Mary. Mary!", "...", "x"], [], ["don't", "mary", "émile"]])
    ids = story_ids(TOKENIZER, stories, 2)
    assert ids.to_list() == [[[4, 4], [1]], [], [[4], [7]]]
    np.testing.assert_array_equal(
        padded(ids), [[[4, 4], [1, 0]], [[0, 0], [0, 0]], [[4, 0], [7, 0]]]
    )
    assert story_ids(TOKENIZER, stories, None).to_list()[2] == [[5], [4], [7]]
    # Even an empty story has a place for one word of one sentence.
    empty = story_ids(TOKENIZER, tf.ragged.constant([[], [""]], tf.string, ragged_rank=1), 2)
    np.testing.assert_array_equal(padded(empty), [[[0]], [[0]]])
    np.testing.assert_array_equal(padded(TOKENIZER.tokenize(["", "mary x"])), [[0, 0], [4, 1]])

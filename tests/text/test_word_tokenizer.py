import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.text import WordTokenizer


def test_the_most_frequent_words_come_first_and_ties_by_code_point():
    # b three times; Z and a and é twice; c and z once.
    tokenizer = WordTokenizer.train(["b b b Z Z", ("a é\tz", "é a  c")], 9)
    assert tokenizer.get_config()["words"] == ["b", "Z", "a", "é", "c"]
    assert tokenizer.vocabulary_size == 9
    assert tokenizer.tokenize(["b z\tc\n", "é"]).to_list() == [[4, 1, 8], [7]]
    assert tokenizer.detokenize([[4, 1, 8]]).numpy()[0].decode() == "b ⁇ c"


@pytest.mark.parametrize("size", [6, 7, 10**6, None])
def test_all_words(size):
    tokenizer = WordTokenizer.train(["a b a"], size)
    assert tokenizer.get_config() == WordTokenizer.train(["a b a"]).get_config()
    assert tokenizer.get_config()["words"] == ["a", "b"]


def test_a_vocabulary_without_a_word_is_refused():
    with pytest.raises(ValueError, match=r"at least 5\. Received: vocabulary_size=4"):
        WordTokenizer.train(["a b a"], 4)
    with pytest.raises(ValueError, match=r"an integer as vocabulary_size\. Received: .*=5\.0"):
        WordTokenizer.train(["a b a"], 5.0)


def test_a_sample_is_drawn_from_all_of_the_corpus():
    corpus = [f"w{number}" for number in range(1000)]
    drawn = WordTokenizer.train(iter(corpus), 104, sample=100).get_config()["words"]
    places = sorted(int(word[1:]) for word in drawn)
    assert len(places) == 100 and places[0] < 100 and places[-1] >= 900
    assert 350 < places[50] < 650
    assert drawn == WordTokenizer.train(corpus, 104, sample=100).get_config()["words"]
    assert WordTokenizer.train(corpus, sample=100).get_config()["words"] == drawn
    with pytest.raises(ValueError, match="Received: sample=0"):
        WordTokenizer.train(corpus, 105, sample=0)


def test_a_corpus_without_a_word_is_refused():
    with pytest.raises(ValueError, match=r"with words or characters\..* vocabulary_size=5\."):
        WordTokenizer.train(["<s> </s>"], 5)


def test_words_are_split_at_ascii_whitespace_alone():
    words = ["a\u00a0b", "c\u2028d", "e\u3000"]
    tokenizer = WordTokenizer.train([" ".join(words)], 7)
    assert tokenizer.get_config()["words"] == words
    assert tokenizer.tokenize([" \x0b\x0c".join(words)]).to_list() == [[4, 5, 6]]


def test_the_signs_of_the_four_ids_are_no_words():
    tokenizer = WordTokenizer.train(["<s> <unk> a <unk> </s> <pad>"], 5)
    assert tokenizer.get_config() == {"words": ["a"], "counts": [0, 0, 0, 1, 1]}
    assert tokenizer.tokenize(["<s> a </s>"]).to_list() == [[1, 4, 1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "a"], "no duplicates. Received: words with 'a' repeated"),
        ([], "at least one entry, .* words with no entries"),
        (["a", "b c"], "Expected words that are not empty, .* words with 'b c'"),
        (["a", ""], "words with ''"),
        (["</s>"], "words with '</s>'"),
        ("abc", "Expected a list of texts. Received: words='abc', one string"),
        ([1], "Expected a list of texts. Received: words whose item 1 is 1, of type int"),
    ],
)
def test_what_is_no_list_of_words_is_refused(words, message):
    with pytest.raises(ValueError, match=message):
        WordTokenizer(words)


def test_frequencies_by_hand():
    tokenizer = WordTokenizer.train(["a b a", ("a c", "b <s>")], 6)
    # Padding, unknown (c), start, the ends of three sentences, a, b.
    assert tokenizer.get_config()["counts"] == [0, 1, 0, 3, 3, 2]
    shares = np.array([0.5, 1, 0.5, 3, 3, 2]) / 10
    np.testing.assert_allclose(tokenizer.log_frequencies, np.log(shares), rtol=1e-6)
    assert tokenizer.log_frequencies.dtype == "float32"
    again = WordTokenizer.from_config(tokenizer.get_config())
    np.testing.assert_array_equal(again.log_frequencies, tokenizer.log_frequencies)
    assert WordTokenizer(["a", "b"]).log_frequencies is None
    with pytest.raises(
        ValueError, match=r"a count for each of 6 ids\. Received: counts of len.* 2"
    ):
        WordTokenizer(["a", "b"], [1, 2])


@pytest.mark.graph
def test_writing_takes_few_ops():
    """A choice among ragged tensors would take a thousand ops, and seconds to trace."""
    tokenizer = WordTokenizer(["the", "dog"])
    ids, words = tf.ragged.constant([[4, 1, 6, 3], [3]], tf.int32), [["Zyx"], []]
    words = tf.ragged.constant(words, tf.string)
    written = tf.function(tokenizer.detokenize, autograph=False)
    assert written(ids, words).numpy().tolist() == [b"the \xe2\x81\x87 Zyx", b""]
    assert len(written.get_concrete_function(ids, words).graph.get_operations()) < 600

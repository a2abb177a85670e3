import pytest

from kerasnmt.text import WordTokenizer


def test_the_most_frequent_words_come_first_and_ties_by_code_point():
    # b three times; Z and a and é twice; c and z once.
    tokenizer = WordTokenizer.train(["b b b Z Z", ("a é\tz", "é a  c")], 9)
    assert tokenizer.get_config() == {"words": ["b", "Z", "a", "é", "c"]}
    assert tokenizer.vocabulary_size == 9
    assert tokenizer.tokenize(["b z\tc\n", "é"]).to_list() == [[4, 1, 8], [7]]
    assert tokenizer.detokenize([[4, 1, 8]]).numpy()[0].decode() == "b ⁇ c"


def test_a_small_corpus_gives_a_smaller_vocabulary():
    assert WordTokenizer.train(["a b a"], 8000).vocabulary_size == 6


def test_words_are_split_at_ascii_whitespace_alone():
    words = ["a\u00a0b", "c\u2028d", "e\u3000"]
    tokenizer = WordTokenizer.train([" ".join(words)], 100)
    assert tokenizer.get_config() == {"words": words}
    assert tokenizer.tokenize([" \x0b\x0c".join(words)]).to_list() == [[4, 5, 6]]


def test_the_signs_of_the_four_ids_are_no_words():
    tokenizer = WordTokenizer.train(["<s> <unk> a <unk> </s> <pad>"], 100)
    assert tokenizer.get_config() == {"words": ["a"]}
    assert tokenizer.tokenize(["<s> a </s>"]).to_list() == [[1, 4, 1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "a"], "none twice. Received: words with 'a' repeated"),
        ([], "at least one entry, .* words with no entry"),
        (["a", "b c"], "Expected words without whitespace, .* words with 'b c'"),
        (["a", ""], "words with ''"),
        (["</s>"], "words with '</s>'"),
        ("abc", "Expected a list of strings. Received: words='abc'"),
        ([1], r"Expected a list of strings. Received: words=\[1\]"),
    ],
)
def test_what_is_no_list_of_words_is_refused(words, message):
    with pytest.raises(ValueError, match=message):
        WordTokenizer(words)


def test_a_vocabulary_without_room_for_a_word_is_refused():
    with pytest.raises(ValueError, match=r"of at least 5: .* Received: vocabulary_size=4"):
        WordTokenizer.train(["a"], 4)

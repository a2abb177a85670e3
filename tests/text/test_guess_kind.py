import pytest

from kerasnmt.text import guess_kind, word_indices


@pytest.mark.parametrize(
    ("text", "tokens", "kind"),
    [
        ("two dogs", ["▁two", "▁dog", "s", "</s>"], "sentencepiece"),
        ("dogs", ["▁dog", "s", "</s>"], "sentencepiece"),
        ("sa ⁇", ["s", "a", "▁", "<unk>", "</s>"], "sentencepiece"),
        ("a dog", ["a", "▁", "d", "o", "g", "</s>"], "characters"),
        ("dog", ["d", "o", "g", "</s>"], "characters"),
        ("a\u00a0b", ["a", "\u00a0", "b", "</s>"], "characters"),
        ("two dogs .", ["two", "dogs", ".", "</s>"], "words"),
        ("a .", ["a", ".", "</s>"], "words"),
        ("⁇ dog", ["<unk>", "dog", "</s>"], "words"),
        ("New York lebt", ["New York", "lebt", "</s>"], "words"),
        ("dog", ["dog", "</s>"], "words"),
        ("the dogs, a", ["the", "dogs", "￭,", "a", "</s>"], "words_and_punctuation"),
        ("the dogs ￭, a", ["the", "dogs", "￭,", "a", "</s>"], "words"),
        ("", [], "words"),
    ],
)
def test_indices_match_the_kind(text, tokens, kind):
    assert word_indices(tokens, guess_kind(text, tokens)) == word_indices(tokens, kind)


def test_words_and_pieces_are_told_apart():
    assert guess_kind("two dogs", ["two", "dogs", "</s>"]) == "words"
    assert guess_kind("two dogs", ["▁two", "▁dogs", "</s>"]) == "sentencepiece"

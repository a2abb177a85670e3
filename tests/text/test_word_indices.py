import pytest

from kerasnmt.text import word_indices


@pytest.mark.parametrize(
    ("kind", "tokens", "expected"),
    [
        ("sentencepiece", ["▁Two", "▁dog", "s", ".", "</s>", "", ""], [0, 1, 1, 1, -1, -1, -1]),
        ("sentencepiece", ["Two", "▁dogs"], [0, 1]),  # a first piece need not open with a space
        ("sentencepiece", ["▁", "x", "y", "▁", "▁z", "▁"], [-1, 0, 0, -1, 1, -1]),
        ("sentencepiece", ["▁a", "<unk>", "b", "▁", "<unk>"], [0, 0, 0, -1, 1]),
        ("sentencepiece", ["<s>", "▁a", "</s>", "b"], [-1, 0, -1, 0]),
        ("words", ["Two", "<unk>", ".", "</s>", ""], [0, 1, 2, -1, -1]),
        ("characters", [*"a▁bc", "▁", "▁", "<unk>", "\t", "d"], [0, -1, 1, 1, -1, -1, 2, -1, 3]),
        (
            "words_and_punctuation",
            ["(￭", "Oslo", "￭)", "￭,", "is", "</s>", ""],
            [0, 0, 0, 0, 1, -1, -1],
        ),
        (
            "words_and_punctuation",
            ["￭.", "<unk>", "a￭", "</s>", "￭b", "<unk>"],
            [0, 1, 2, -1, 2, 3],
        ),
        ("words", [], []),
    ],
)
def test_words_of_tokens(kind, tokens, expected):
    assert word_indices(tokens, kind) == expected


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"Expected kind to be one of .* Received: kind='bytes'"):
        word_indices(["a"], "bytes")

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
        # Scripts without spaces: pieces are words, and combining characters are not.
        ("sentencepiece", ["▁犬", "が", "寝る", "。", "</s>"], [0, 1, 2, 3, -1]),
        ("sentencepiece", ["▁私は", "To", "m", "です", "<unk>", "▁", "x"], [0, 1, 1, 2, 3, -1, 4]),
        ("sentencepiece", ["▁ฉัน", "รัก", "แมว", "▁แมว", "ส"], [0, 1, 2, 3, 4]),
        ("characters", [*"ที่", "▁", "ฉ"], [0, 0, 0, -1, 1]),
        ("characters", [*"犬が", "▁", *"Tom"], [0, 1, -1, 2, 2, 2]),
        # A tag belongs to the word after it, and <unk> is none.
        ("characters", ["<ja>", *"いぬ"], [0, 0, 1]),
        ("sentencepiece", ["▁", "<ja>", "<V>", "犬", "が", "<ja>", "▁犬"], [-1, 0, 0, 0, 1, 2, 3]),
        ("characters", ["<unk>", "犬"], [0, 1]),
        # Chinese that was split into words, and Korean: words between spaces.
        ("sentencepiece", ["▁我", "们", "▁喜欢", "▁To", "m", "▁。"], [0, 0, 1, 2, 2, 3]),
        ("sentencepiece", ["▁한국", "어", "▁좋", "아"], [0, 0, 1, 1]),
        ("words", ["我们喜欢", "犬"], [0, 1]),
    ],
)
def test_words_of_tokens(kind, tokens, expected):
    assert word_indices(tokens, kind) == expected


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"Expected kind to be one of .* Received: kind='bytes'"):
        word_indices(["a"], "bytes")

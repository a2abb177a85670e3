"""Extended ids for the unknown words of a source."""

import random
import re

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.text import CharacterTokenizer, ExtendedSource, SentencePieceTokenizer, WordTokenizer
from kerasnmt.text.extended_ids import extended_ids, find_unknown_words

WORDS = WordTokenizer(["a", "b"])  # ids 4 and 5; copied words from 6 on
LETTERS = CharacterTokenizer("ab ")  # ids 4, 5 and 6; copied characters from 7 on
TOKENIZERS = pytest.mark.parametrize("tokenizer", [WORDS, LETTERS], ids=lambda t: t.kind)


def decoded(strings):
    """Return the rows of a ragged tensor of strings as lists of `str`."""
    return [[word.decode() for word in row] for row in strings.to_list()]


def test_words_by_hand():
    source = WORDS.tokenize_source(["x a y x", "b", "", "y a z x z y"])
    assert isinstance(source, ExtendedSource)
    assert source.ids.to_list() == [[1, 4, 1, 1], [5], [], [1, 4, 1, 1, 1, 1]]
    assert source.extended_ids.to_list() == [[6, 4, 7, 6], [5], [], [6, 4, 7, 8, 7, 6]]
    assert decoded(source.unknown_words) == [["x", "y"], [], [], ["y", "z", "x"]]
    assert [field.dtype for field in source] == [tf.int32, tf.int32, tf.string]
    assert [field.shape.as_list() for field in source] == [[4, None]] * 3

    # z is a word of the last source alone, and x has another id there than in the first.
    target = WORDS.tokenize_target(["y z b x x", "x b", "y", "x z q"], source.unknown_words)
    assert target.dtype == tf.int32
    assert target.to_list() == [[7, 1, 5, 6, 6], [1, 5], [1], [8, 7, 1]]


def test_pieces_have_no_unknown_words():
    tokenizer = SentencePieceTokenizer.train(["two dogs run", "a man runs", "two men"] * 5, 19)
    texts = ["two € men", "", "dogs"]
    source = tokenizer.tokenize_source(texts)
    plain = tokenizer.tokenize(texts)
    assert UNKNOWN_ID in plain.to_list()[0]
    assert source.ids.to_list() == source.extended_ids.to_list() == plain.to_list()
    assert source.unknown_words.to_list() == [[], [], []]
    assert tokenizer.tokenize_target(texts, source.unknown_words).to_list() == plain.to_list()
    text = tokenizer.detokenize(source.extended_ids, source.unknown_words)
    assert [line.decode() for line in text.numpy()] == ["two ⁇ men", "", "dogs"]


def test_the_signs_of_the_four_ids_are_words():
    source = WORDS.tokenize_source(["<s> <pad> a <unk> <s> </s>"])
    assert source.extended_ids.to_list() == [[6, 7, 4, 8, 6, 9]]
    assert decoded(source.unknown_words) == [["<s>", "<pad>", "<unk>", "</s>"]]
    assert WORDS.tokenize_target(["</s> a"], source.unknown_words).to_list() == [[9, 4]]
    text = WORDS.detokenize(source.extended_ids, source.unknown_words)
    assert text.numpy() == [b"<s> <pad> a <unk> <s> </s>"]


def test_bytes_that_are_not_utf_8_are_copied_as_the_replacement_character():
    for tokenizer in (WORDS, LETTERS):
        source = tokenizer.tokenize_source([b"\xff a", b"\xed\xa0\x80", "\0"])
        text = tokenizer.detokenize(source.extended_ids, source.unknown_words).numpy()
        assert text[0].decode() == "\ufffd a"
        assert set(text[1].decode()) == {"\ufffd"}
        assert text[2] == b"\0"


@TOKENIZERS
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_any_extended_ids_are_written(tokenizer, dtype):
    size = tokenizer.vocabulary_size
    words = tf.ragged.constant([["x", "y"], [], ["z"], []], dtype=tf.string)
    rows = [[size + 1, 2, size, 0, size + 2, 3], [size], [-1, 4, size], [2**31 - 1, -(2**31)]]
    ids = tf.ragged.constant(rows, dtype=dtype)
    gap = {"words": " ", "characters": ""}[tokenizer.kind]
    expected = [gap.join(row) for row in (["y", "x", "⁇"], ["⁇"], ["⁇", "a", "z"], ["⁇", "⁇"])]
    text = tokenizer.detokenize(ids, words).numpy()
    assert [line.decode() for line in text] == expected
    padded = ids.to_tensor()
    np.testing.assert_array_equal(tokenizer.detokenize(padded, words), text)

    tokens = tokenizer.tokens(padded, words)
    assert (tokens.shape, tokens.dtype) == (padded.shape, tf.string)
    np.testing.assert_array_equal(
        tokens,
        [
            [b"y", b"<s>", b"x", b"", b"<unk>", b"</s>"],
            [b"<unk>", b"", b"", b"", b"", b""],
            [b"<unk>", b"a", b"z", b"", b"", b""],
            [b"<unk>", b"<unk>", b"", b"", b"", b""],
        ],
    )
    # Every hypothesis of a beam.
    beam = tokenizer.tokens(tf.stack([padded, padded], axis=1), words)
    np.testing.assert_array_equal(beam, tf.stack([tokens, tokens], axis=1))
    # Without the words, as ever.
    assert [line.decode() for line in tokenizer.detokenize(ids).numpy()] == [
        gap.join(row) for row in (["⁇"] * 3, ["⁇"], ["⁇", "a", "⁇"], ["⁇"] * 2)
    ]


def test_tokens_of_unknown_words_say_which_word_they_are_of():
    source = WORDS.tokenize_source(["x <s> a </s>"])
    tokens = WORDS.tokens(source.extended_ids.to_tensor(), source.unknown_words)[0]
    tokens = [token.decode() for token in tokens.numpy()]
    assert tokens == ["x", "<unk>", "a", "<unk>"]
    assert WORDS.word_indices(tokens) == [0, 1, 2, 3]
    letters = CharacterTokenizer("ab")
    source = letters.tokenize_source(["x a"])
    tokens = letters.tokens(source.extended_ids.to_tensor(), source.unknown_words)
    assert [token.decode() for token in tokens[0].numpy()] == ["x", "▁", "a"]


def random_texts(count, seed=0):
    """Return texts of 0 to 30 words, many of them unknown or repeated."""
    draw = random.Random(seed)
    words = ["a", "b", "ab", "ä", "日本", "x", "1", "1\u00a02", "😀", "<s>", "⁇", "▁", "\ufeff"]
    words += [f"w{number}" for number in range(20)]
    return [" ".join(draw.choices(words, k=draw.randrange(30))) for _ in range(count)]


TEXTS = random_texts(40)


@TOKENIZERS
def test_text_full_of_unknown_words_returns(tokenizer):
    source = tokenizer.tokenize_source(TEXTS)
    text = tokenizer.detokenize(source.extended_ids, source.unknown_words)
    assert [line.decode() for line in text.numpy()] == TEXTS
    padded = tokenizer.detokenize(source.extended_ids.to_tensor(), source.unknown_words)
    np.testing.assert_array_equal(padded, text)


@TOKENIZERS
def test_ids_match_a_transcription_in_python(tokenizer):
    targets = random_texts(40, seed=1)
    source = tokenizer.tokenize_source(TEXTS)
    found = tokenizer.tokenize_target(targets, source.unknown_words)
    for number, (text, target) in enumerate(zip(TEXTS, targets, strict=True)):
        sides = [list(side) for side in (text, target)]
        if tokenizer is WORDS:  # `str.split` splits at more than ASCII whitespace
            sides = [re.findall("[^ ]+", side) for side in (text, target)]
        known = {token: id for id, token in enumerate(["a", "b", " "], start=4)}
        unknown = list(dict.fromkeys(token for token in sides[0] if token not in known))
        ids = known | {token: tokenizer.vocabulary_size + i for i, token in enumerate(unknown)}
        assert source.ids[number].numpy().tolist() == [known.get(t, 1) for t in sides[0]]
        assert source.extended_ids[number].numpy().tolist() == [ids[t] for t in sides[0]]
        assert [word.decode() for word in source.unknown_words[number].numpy()] == unknown
        assert found[number].numpy().tolist() == [ids.get(t, 1) for t in sides[1]]


@TOKENIZERS
def test_the_batch_around_a_text_does_not_matter(tokenizer):
    together = tokenizer.tokenize_source(TEXTS)
    for number, text in list(enumerate(TEXTS))[::4]:
        alone = tokenizer.tokenize_source([text])
        for one, all_of_them in zip(alone, together, strict=True):
            assert one.to_list() == [all_of_them[number].numpy().tolist()]


def test_long_sources():
    words = [f"w{number % 7000}" for number in range(20_000)]
    source = WORDS.tokenize_source([" ".join(words)] * 3)
    assert source.extended_ids.to_list() == [[6 + number % 7000 for number in range(20_000)]] * 3
    assert source.unknown_words.row_lengths().numpy().tolist() == [7000] * 3


@TOKENIZERS
@pytest.mark.parametrize("texts", [[], ["", ""], ["a", ""]])
def test_nothing_to_extend(tokenizer, texts):
    source = tokenizer.tokenize_source(texts)
    assert source.extended_ids.to_list() == source.ids.to_list() == [[4][: len(t)] for t in texts]
    assert source.unknown_words.to_list() == [[] for _ in texts]
    targets = tokenizer.tokenize_target(texts, source.unknown_words)
    assert targets.to_list() == source.ids.to_list()
    text = tokenizer.detokenize(source.extended_ids, source.unknown_words)
    assert [line.decode() for line in text.numpy()] == texts
    tokens = tokenizer.tokens(source.extended_ids.to_tensor(), source.unknown_words)
    assert tokens.shape[0] == len(texts)


def test_a_word_that_is_not_to_be_copied_stays_unknown():
    ids = tf.ragged.constant([[1, 4, 1, 1]])
    words = tf.ragged.constant([["x", "a", "", "y"]])
    unknown = find_unknown_words(ids, words)
    assert decoded(unknown) == [["x", "y"]]
    assert extended_ids(ids, words, unknown, 9).to_list() == [[9, 4, 1, 10]]


def test_texts_are_cut_before_their_unknown_words_are_numbered():
    tokenizer = WordTokenizer(["a", "b"])  # ids 4 and 5, so that others begin with 6
    source, context = tokenizer.tokenize_together(
        ["x y a", "a"], ["y z x b q", "x"], max_lengths=[1, 4]
    )
    assert source.ids.to_list() == [[1], [4]]
    assert source.extended_ids.to_list() == [[6], [4]]
    assert context.ids.to_list() == [[1, 1, 1, 5], [1]]
    assert context.extended_ids.to_list() == [[7, 8, 6, 5], [6]]
    assert source.unknown_words.to_list() == [[b"x", b"y", b"z"], [b"x"]]
    one = tokenizer.tokenize_source(["x y a", "a"], max_length=2)
    assert one.extended_ids.to_list() == [[6, 7], [4]]

"""Common properties of all tokenizers."""

import json
import random

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.text import (
    CharacterTokenizer,
    PunctuationTokenizer,
    SentencePieceTokenizer,
    WordTokenizer,
)
from tests.text.everywhere import assert_alike

CORPUS = [
    ("Two dogs run in the park .", "Zwei Hunde rennen im Park ."),
    ("A man reads a book .", "Ein Mann liest ein Buch ."),
    ("The child's mother sings loudly .", "Die Mutter des Kindes singt laut ."),
    ("Some people wait for the bus in the rain .", "Einige Leute warten im Regen auf den Bus ."),
    ("An old woman sells green apples .", "Eine alte Frau verkauft grüne Äpfel ."),
]
SENTENCES = [text for pair in CORPUS for text in pair]
SIZES = {
    SentencePieceTokenizer: 80,
    WordTokenizer: 62,
    PunctuationTokenizer: 63,
    CharacterTokenizer: 45,
}


@pytest.fixture(scope="module", params=list(SIZES), ids=lambda cls: cls.kind)
def tokenizer(request):
    return request.param.train(CORPUS, SIZES[request.param])


def test_text_returns_from_its_ids(tokenizer):
    ids = tokenizer.tokenize(SENTENCES)
    assert isinstance(ids, tf.RaggedTensor)
    assert ids.dtype == tf.int32
    assert ids.shape.as_list() == [10, None]
    text = tokenizer.detokenize(ids)
    assert (text.dtype, text.shape) == (tf.string, [10])
    assert [line.decode() for line in text.numpy()] == SENTENCES


HARD = [
    "",
    "   ",
    "\0",
    "a\0b",
    b"\xff\xfe abc \x80",
    b"\xed\xa0\x80",  # a lone surrogate
    "😀👩‍👩‍👧 dogs",
    "שלום عليكم",
    "x" * 10_000,
    "dog " * 2_500,
    "<s> </s> <pad> <unk>",
    "\u2028\u00a0\u3000\ufeff",
    "\n\r\n\t",
]


def test_any_bytes_are_tokenized(tokenizer):
    ids = tokenizer.tokenize(HARD)
    assert ids.nrows() == len(HARD)
    assert len(ids[0]) == 0
    flat = ids.flat_values.numpy()
    assert ((flat == UNKNOWN_ID) | (flat > END_ID)).all()
    assert flat.max() < tokenizer.vocabulary_size
    assert tokenizer.detokenize(ids).shape == [len(HARD)]
    for text, row in zip(HARD, ids, strict=True):  # the batch around a text does not matter
        np.testing.assert_array_equal(tokenizer.tokenize([text])[0], row)


def test_half_of_a_surrogate_pair_is_the_replacement_character(tokenizer):
    halves, whole = ["a\ud83d dog", "\ud83d\ude00"], ["a� dog", "😀"]
    for texts in (halves, tuple(halves), np.array(halves)):
        assert tokenizer.tokenize(texts).to_list() == tokenizer.tokenize(whole).to_list()
    assert tokenizer.tokenize_source(halves).ids.to_list() == tokenizer.tokenize(whole).to_list()
    trained, expected = (
        type(tokenizer).train([*CORPUS, texts], SIZES[type(tokenizer)])
        for texts in (tuple(halves), tuple(whole))
    )
    assert trained.get_config() == expected.get_config()


def test_an_empty_batch_is_tokenized(tokenizer):
    ids = tokenizer.tokenize([])
    assert ids.shape.as_list() == [0, None]
    assert tokenizer.detokenize(ids).shape == [0]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_any_ids_are_detokenized(tokenizer, dtype):
    size = tokenizer.vocabulary_size
    row = tokenizer.tokenize(["The man ."])[0].numpy().tolist()
    rows = [
        row,
        [START_ID, *row[:1], PAD_ID, *row[1:], END_ID, PAD_ID],
        [],
        [PAD_ID, START_ID, END_ID],
        [UNKNOWN_ID],
        [size],
        [-1],
        [2**31 - 1],
        [-(2**31)],
    ]
    text = tokenizer.detokenize(tf.ragged.constant(rows, dtype=dtype)).numpy()
    assert [line.decode() for line in text] == ["The man .", "The man .", "", "", *["⁇"] * 5]
    padded = tf.ragged.constant(rows, dtype=dtype).to_tensor()
    np.testing.assert_array_equal(tokenizer.detokenize(padded), text)


def test_every_id_is_written_as_it_detokenizes(tokenizer):
    size = tokenizer.vocabulary_size
    ids = tf.reshape(tf.range(-2, size + 2), [1, -1, 1])
    tokens = tokenizer.tokens(ids)
    assert (tokens.shape, tokens.dtype) == (ids.shape, tf.string)
    flat = [token.decode() for token in tokens.numpy().ravel()]
    assert flat[:6] == ["<unk>", "<unk>", "", "<unk>", "<s>", "</s>"]
    assert flat[-2:] == ["<unk>", "<unk>"]
    entries = flat[6:-2]
    assert len(set(entries)) == size - 4
    text = tokenizer.detokenize(tf.range(4, size)[:, tf.newaxis]).numpy()
    assert [line.decode().strip() for line in text] == [
        e.replace("▁", " ").strip(" ￭") for e in entries
    ]
    assert tokenizer.tokens(3).numpy() == b"</s>"


def test_word_indices_gather_the_words_of_the_text(tokenizer):
    """This includes ids of a model that no text has."""
    draw = random.Random(1)
    rows = tokenizer.tokenize(SENTENCES).to_list()
    rows += [[draw.randrange(tokenizer.vocabulary_size) for _ in range(30)] for _ in range(20)]
    for row in rows:
        words = tokenizer.detokenize([row]).numpy()[0].decode().split()
        tokens = [token.decode() for token in tokenizer.tokens(row).numpy()]
        gathered = [""] * len(words)
        for token, word in zip(tokens, tokenizer.word_indices(tokens), strict=True):
            if word >= 0:
                gathered[word] += token.replace("<unk>", "⁇").removeprefix("▁").strip("￭")
        assert gathered == words


@pytest.mark.graph
def test_training_again_gives_the_same(tokenizer):
    again = type(tokenizer).train(CORPUS, SIZES[type(tokenizer)])
    assert again.get_config() == tokenizer.get_config()
    sides = tuple(list(side) for side in zip(*CORPUS, strict=True))
    dataset = tf.data.Dataset.from_tensor_slices(sides)
    once = type(tokenizer).train(dataset, SIZES[type(tokenizer)])
    twice = type(tokenizer).train(dataset, SIZES[type(tokenizer)])
    assert once.get_config() == twice.get_config()
    assert once.vocabulary_size == tokenizer.vocabulary_size


@pytest.mark.parametrize("corpus", [[], ["", "  "]])
def test_an_empty_corpus_is_refused(tokenizer, corpus):
    with pytest.raises(ValueError, match=r"one sentence that is not blank.*which has none"):
        type(tokenizer).train(corpus, 100)


def test_keras_saves_and_loads_it_through_json(tokenizer):
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(tokenizer)))
    assert saved["registered_name"] == f"kerasnmt>{type(tokenizer).__name__}"
    loaded = keras.saving.deserialize_keras_object(saved)
    assert type(loaded) is type(tokenizer)
    assert loaded.vocabulary_size == tokenizer.vocabulary_size
    assert loaded.get_config() == tokenizer.get_config()
    assert loaded.tokenize(SENTENCES).to_list() == tokenizer.tokenize(SENTENCES).to_list()


exported = pytest.mark.thorough("tests of exports have this tokenizer")


@pytest.mark.graph
@pytest.mark.parametrize(
    "tokenizer",
    [
        SentencePieceTokenizer,
        PunctuationTokenizer,
        pytest.param(WordTokenizer, marks=exported),
        pytest.param(CharacterTokenizer, marks=exported),
    ],
    indirect=True,
    ids=lambda cls: cls.kind,
)
def test_it_runs_in_graphs_datasets_and_saved_models(tokenizer, tmp_path):
    def there_and_back(text):
        ids = tokenizer.tokenize(text)
        tokens = tokenizer.tokens(ids.to_tensor())
        return {"ids": ids, "text": tokenizer.detokenize(ids), "tokens": tokens}

    found = assert_alike(there_and_back, SENTENCES, tokenizer=tokenizer, folder=tmp_path)
    assert [line.decode() for line in found["text"].numpy()] == SENTENCES


@pytest.mark.graph
def test_one_made_inside_a_graph_can_be_used_outside(tokenizer):
    made = []

    @tf.function
    def trace():
        made.append(type(tokenizer).from_config(tokenizer.get_config()))
        return made[0].tokenize(["The man ."]).flat_values

    np.testing.assert_array_equal(trace(), tokenizer.tokenize(["The man ."])[0])
    np.testing.assert_array_equal(made[0].tokens([2, 3]), [b"<s>", b"</s>"])


def test_one_cut_only(tokenizer):
    if tokenizer.kind == "sentencepiece":
        return
    with pytest.raises(ValueError, match=f"SentencePieceTokenizer.* of kind '{tokenizer.kind}'"):
        tokenizer.sample(["two dogs"])


def test_repr():
    assert repr(WordTokenizer(["two", "dogs"])) == "<WordTokenizer of 6 ids: 'two', 'dogs'>"
    letters = CharacterTokenizer("abcde")
    assert repr(letters) == "<CharacterTokenizer of 9 ids: 'a', 'b', 'c', 'd', …>"


def test_ids_of_tags_and_spaces():
    texts = ["<V><PST>walk in", "<V> go", "<s> <0x41>"] * 4
    for kind in (SentencePieceTokenizer, CharacterTokenizer):
        tokenizer = kind.train(texts, 21, tags=True)
        tokens = tokenizer.tokens(range(tokenizer.vocabulary_size)).numpy().tolist()
        assert {tokens[one] for one in tokenizer.tag_ids} == {b"<PST>", b"<V>"}
        assert [tokens[one] for one in tokenizer.space_ids] == ["▁".encode()]
    # To a tokenizer of words, "▁" is a word.
    tokenizer = WordTokenizer(["a", "▁", "<N>", "<>", "</s>a", "<V;PST>"])
    assert (tokenizer.tag_ids, tokenizer.space_ids) == ([6, 9], [])
    assert PunctuationTokenizer.train(["<V> a"]).tag_ids == []

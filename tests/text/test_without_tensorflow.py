import functools
import json
import random
import subprocess
import sys

import keras
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from kerasnmt import zoo
from kerasnmt.data import builtin_corpus
from kerasnmt.text import (
    CharacterTokenizer,
    PlainWordTokenizer,
    PunctuationTokenizer,
    SentencePieceTokenizer,
    WordTokenizer,
)
from kerasnmt.text.without_tensorflow import plain_tokenizer

ODD = ["é", "e\u0301", "ﬁ", "①", "☃", "👩\u200d👩", "\u00a0", "\u3000", "カ\u3099", "</s>", "<s>"]
ODD += [
    "(",
    "“",
    "'s",
    "’s",
    "🏽",
    "👍",
    "￭",
    "$",
    "\u0300",
    "\u2009",
    "I",
    "A",
    "C",
    "Ä",
    "😀\u200d",
]
ODD += ["<unk>", "▁", "⁇", "\t", "\n", "\0", "\u200b", "ß", "İ", "\ufeff", "a", "the ", " ", "0"]
ODD += ["<x>", " <y>"]
KINDS = ["words", "plain words", "words_and_punctuation", "characters", "folded characters"]
KINDS += ["default tags"]


def many_texts():
    rng = random.Random(2)
    lines = [pair.source.encode() for pair in builtin_corpus(300, "test")]
    odd = ["".join(rng.choices(ODD, k=rng.randrange(20))).encode() for _ in range(2000)]
    noise = [rng.randbytes(rng.randrange(20)) for _ in range(1000)]
    return [*lines, *odd, *noise, b"", b" ", b"30.000 yen", b"5000"]


def tagged_pieces(corpus):
    return SentencePieceTokenizer.train([*corpus, "<x>a", "<y>b"], 300, tags=True)


@functools.cache
def tokenizers():
    sentencepiece_ = zoo.from_preset("tatoeba_en_fr_transformer", load_weights=False)
    corpus = [pair.source for pair in builtin_corpus(300)]
    return {
        "sentencepiece": sentencepiece_.source_tokenizer,
        "nfc": SentencePieceTokenizer.train([*corpus, "ガ é　ß", *"fi1"], 300),
        "words": WordTokenizer(["the", "dog", "."]),
        "words_and_punctuation": PunctuationTokenizer(["the", "dog", "￭.", "(￭", "ß", "￭'s"]),
        "plain words": PlainWordTokenizer(["the", "dog", "ß", "a", "é", "i\u0307", "the(the", "0"]),
        "characters": CharacterTokenizer([*"abc .é☃"]),
        "characters and tags": CharacterTokenizer([*"abc .é☃", "<x>", "<V;3.>", "<n-1>"]),
        "folded characters": CharacterTokenizer([*"abc .éßı"], fold_case=True),
        "decomposed": CharacterTokenizer([*"abe \u0301\u1100\u1161", "<x>"], normalization="nfd"),
        "default tags": CharacterTokenizer([*"abc ", "<x>", "<y>"], default_tags="x y"),
        "pieces with default tags": tagged_pieces(corpus).with_default_tags("<x>"),
    }


@pytest.fixture(scope="module", params=["sentencepiece", "nfc", "pieces with default tags", *KINDS])
def both(request):
    """A tokenizer, and its plain copy."""
    tokenizer = tokenizers()[request.param]
    return tokenizer, plain_tokenizer(keras.saving.serialize_keras_object(tokenizer))


def test_the_pieces_are_equal(both):
    tokenizer, plain = both
    texts = many_texts()
    expected = tokenizer.tokenize(tokenizer.normalize_source(texts)).to_list()
    found = plain.encode(texts)
    differing = [(a, b) for a, b in zip(found, expected, strict=True) if a != b]
    if differing:  # segmentations with the same probability, such as 00 + 0 and 0 + 00
        assert tokenizer.kind == "sentencepiece" and len(differing) < 5
        processor = sentencepiece.SentencePieceProcessor(model_proto=tokenizer._model)
        for pair in differing:
            scores = [sum(processor.get_score(number) for number in ids) for ids in pair]
            assert scores[0] == pytest.approx(scores[1], abs=1e-5)
            assert plain.decode(pair[:1]) == plain.decode(pair[1:])


def test_the_phrases_are_equal(both):
    tokenizer, plain = both
    for places in zip(plain.word_places, tokenizer.word_places, strict=True):
        np.testing.assert_array_equal(*places)
    texts = [b"dog", b"the dog", "犬é".encode(), b" the's (dog) ", b"\xffa", b"I'm 30.", b"a"]
    expected = [form.to_list() for form in tokenizer.phrase_ids(texts)]
    for text, *forms in zip(texts, *expected, strict=True):
        assert [ids for ids, _ in plain.phrases(text)] == forms


def test_the_texts_are_equal(both):
    tokenizer, plain = both
    rng = random.Random(3)
    numbers = [*range(tokenizer.vocabulary_size)]
    rows = [[*rng.choices(numbers, k=rng.randrange(9)), 3] for _ in range(500)]
    expected = tokenizer.detokenize(tf.ragged.constant([*rows, []], tf.int32)).numpy()
    assert plain.decode([*rows, []]) == [text.decode() for text in expected]


def test_sentencepiece_needs_no_tensorflow(tmp_path):
    config = keras.saving.serialize_keras_object(tokenizers()["sentencepiece"])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(config))
    program = (
        "import json, sys; from kerasnmt.text.without_tensorflow import plain_tokenizer; "
        f"plain = plain_tokenizer(json.load(open({str(path)!r}))); "
        "print(plain.decode(plain.encode([b'I see you.']))); "
        "assert not {'tensorflow', 'keras'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "['I see you.']\n"), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_and_what_is_copied_are_equal(kind):
    tokenizer = tokenizers()[kind]
    plain = plain_tokenizer(keras.saving.serialize_keras_object(tokenizer))
    texts = many_texts()
    words = [[word.decode() for word in row] for row in tokenizer.words(texts).to_list()]
    assert [plain.split(text)[1] for text in texts] == words
    size, rows = tokenizer.vocabulary_size, [[1, 4, 2], [7, 99, 3], [-1, 5, 0]]
    rows = [[size, size + 1, *row, size + 2] for row in rows]
    unknown = [["x", "</s>", "é"], [" ", "😀"], []]
    ragged = tf.ragged.constant(unknown, dtype=tf.string)
    decoded = tokenizer.detokenize(tf.constant(rows), ragged).numpy()
    assert plain.decode(rows, unknown) == [text.decode() for text in decoded]
    tokens = tokenizer.tokens(tf.constant(rows), ragged).numpy().tolist()
    found = [plain.tokens(row, own) for row, own in zip(rows, unknown, strict=True)]
    assert found == [[token.decode() for token in row] for row in tokens]

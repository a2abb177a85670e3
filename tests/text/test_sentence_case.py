"""Texts in capitals, or without any, read as sentences."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.text import CharacterTokenizer, WordTokenizer
from kerasnmt.text.sentence_case import in_capitals, in_sentence_case
from kerasnmt.text.translation_codec import TranslationCodec

TAGS = ["<x>", "<y>"]
ODD = [
    "A",
    "B",
    "É",
    "Ç",
    "Σ",
    "ẞ",
    "Я",
    "İ",
    "Ǆ",
    "ǅ",
    "a",
    "ß",
    "ﬁ",
    "ª",
    "犬",
    "3",
    " ",
    "'",
    ".",
]
ODD += [
    "<x>",
    " <y>",
    "\n",
    "\u0301",
    "ⓐ",
    "👍",
    "\x00",
    "b",
    "é",
    "ა",
    "’",
    "-",
    "@",
    "ჿ",
    "ʰ",
    "½",
]
RNG = random.Random(1)
TEXTS = ["".join(RNG.choices(ODD, k=RNG.randrange(7))) for _ in range(4000)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HELLO WORLD!", "Hello world!"),
        ("«ÉTÉ 2026»", "«Été 2026»"),
        ("<x> <y>I HAVE 3", "<x> <y>I have 3"),
        ("ПРИВЕТ, МИР", "Привет, мир"),
        ("3 DOGS", "3 dogs"),
        ("hello, world!", "Hello, world!"),
        ("<x>«l'été est là»", "<x>«L'été est là»"),
        ("U.S. TROOPS", "U.s. troops"),
        *((text, text) for text in ("I", "A 3.", "hello World", "", "<x>", "犬。", "123", "<z>A")),
        *((text, text) for text in ("3 dogs", "a@b.org is new", "http://x y", "გამარჯობა", "ǅ a")),
        *((text, text) for text in ("我喜欢NBA。", "nba很好", "أحب NBA", "DOG\0A", "\u10fbAB")),
    ],
)
def test_texts_in_capitals_or_without_any_begin_with_one_capital(text, expected):
    assert in_sentence_case(text, TAGS) == expected


def test_several_capital_letters_and_no_others():
    texts = ["A DOG", "A dog", "A", "<x>A DOG", "a dog", "USBメモリ"]
    upper = [in_capitals(text, TAGS) for text in texts]
    assert upper == [True, False, False, True, False, False]


@pytest.mark.thorough("starts TensorFlow once more; the other tests have the locale C")
def test_the_locale_changes_nothing():
    program = """
from kerasnmt.text.letter_case import in_sentence_case, lower, upper
texts = lower(["IİI"]), upper(["iıi"]), *in_sentence_case(["I IN İ"])
print([one.numpy()[0] for one in texts])
"""
    environment = {**os.environ, "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=True
    )
    expected = ["ii\u0307i".encode(), b"III", "I in i\u0307".encode(), np.True_]
    assert done.stdout.decode().strip() == str(expected)


def test_the_graph_reads_the_same_texts():
    tokenizer = CharacterTokenizer([*map(chr, range(33, 256)), *TAGS])
    assert tokenizer.tags == TAGS
    codec = TranslationCodec(tokenizer, tokenizer, sentence_case=True)
    plain = TranslationCodec(tokenizer, tokenizer)
    source = codec.encode_source(tf.constant(TEXTS))
    cased = [in_sentence_case(text, TAGS) for text in TEXTS]
    upper = [in_capitals(text, TAGS) for text in TEXTS]
    changed = [one != text for one, text in zip(cased, TEXTS, strict=True)]
    assert min(sum(upper), sum(changed) - sum(upper)) > 50
    assert source.capitals.numpy().tolist() == upper
    ids = source.ids["source_ids"].to_list()
    assert ids == plain.encode_source(cased).ids["source_ids"].to_list()
    lengths = [codec.source_lengths(TEXTS), plain.source_lengths(cased)]
    assert lengths[0].numpy().tolist() == lengths[1].numpy().tolist()


def test_targets_of_texts_in_capitals_are_read_in_lowercase_and_written_in_capitals():
    words = WordTokenizer(["Un", "un", "été", "UN"])  # ids 4 to 7
    codec = TranslationCodec(words, words, copies=True, sentence_case=True)
    source = codec.encode_source(tf.constant(["UN ÉTÉ ZEB", "UN été", "un"]))
    assert source.capitals.numpy().tolist() == [True, False, False]
    assert source.ids["source_ids"].to_list() == [[4, 6, 1], [7, 6], [4]]
    targets = codec.encode_target(tf.constant(["UN ZEB", "UN ZEB", "un"]), source)
    assert targets.to_list() == [[4, 8], [7, 1], [5]]
    ids = tf.constant([[4, 8, 3], [5, 6, 3], [7, 3, 0]])
    texts = [b"UN ZEB", "un été".encode(), b"UN"]
    assert codec.decode(ids, source).numpy().tolist() == texts
    assert codec.decode_all(ids[:, None], source).numpy().tolist() == [[one] for one in texts]
    tokens = codec.all_tokens(ids[:, None], source)[0, 0].numpy().tolist()
    assert tokens == [b"Un", b"zeb", b"</s>"]  # as the model writes them

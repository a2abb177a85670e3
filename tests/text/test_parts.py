"""Split of texts into the parts that a model translates one by one, and lexicons."""

import random

import pytest
import tensorflow as tf

from kerasnmt.text import CharacterTokenizer
from kerasnmt.text.parts import Parts, looked_up
from kerasnmt.text.split_sentences import split_parts
from kerasnmt.text.translation_codec import TranslationCodec

ODD = ["a", "b ", "...", "<x>", " <y>", "\u00a0", "\u3000", "!", "«", "»", "'", "-", "é", " ", "\t"]
ODD += [
    "’",
    "\u200f",
    "\u0301",
    "\n",
    "\x1e",
    "👍",
    "¿",
    " A",
    "B. ",
    "。",
    "$",
    "\x85",
    "\ufe0f",
    "\u200b",
]
RNG = random.Random(1)
TEXTS = ["".join(RNG.choices(ODD, k=RNG.randrange(12))) for _ in range(1000)]
TAGS = ["<x>", "<y>"]


@pytest.mark.parametrize(
    ("words", "text", "parts"),
    [
        (True, "«Guten Morgen», l'eau – 3 x-y!", ["Guten", "Morgen", "l'eau", "3", "x-y"]),
        (True, "<x> <y>a\u3000b", ["<x> <y>a", "<x> <y>b"]),
        (True, "<x>...", [""]),
        (True, "", [""]),
        (True, "<z>a", ["z>a"]),
        (True, "'bout dogs’ 'x' ''y'' ' ''", ["'bout", "dogs’", "x", "'y'"]),
        (True, "❤\ufe0f \u200f!שלום\u200f ना \u0301a", ["שלום", "ना", "a"]),
        (False, "<x>Two dogs. A man!", ["<x>Two dogs.", "<x>A man!"]),
        (False, "<z>Two dogs. A man!", ["<z>Two dogs.", "A man!"]),
    ],
)
def test_tags_stand_in_front_of_each_part(words, text, parts):
    assert Parts(words, TAGS).split(text) == parts


def test_models_that_split():
    assert Parts.of({"split_words": True}) == (True, ())
    assert Parts.of({"split_sentences": True, "source_tags": TAGS}) == (False, TAGS)
    assert Parts.of({"split_sentences": False}) is None is Parts.of({})


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("tags", [[], TAGS])
def test_the_graph_gives_the_same_parts(words, tags):
    parts = Parts(words, tags)
    found = split_parts(parts, tf.constant(TEXTS)).to_list()
    assert [[one.decode() for one in row] for row in found] == [*map(parts.split, TEXTS)]


def test_bytes_that_are_not_utf_8_belong_to_no_word():
    found = split_parts(Parts(True, TAGS), tf.constant([b"caf\xe9 \xff <x>", b"\xff"]))
    assert found.to_list() == [[b"caf", b"x"], [b""]]


def test_a_lexicon_is_asked_without_tags_and_then_in_lowercase():
    lexicon = {"Rom": "r oː m", "ab c": "x", "ärger": "y", "!": "z"}
    texts = ["Rom", "rom", "ROM", "<x><y>Rom", " ab c\n", "ÄRGER", "!", "<x>", "", "<z>Rom"]
    expected = ["r oː m", "", "", "r oː m", "x", "y", "z", "", "", ""]
    assert [looked_up(text, lexicon, TAGS) for text in texts] == expected
    assert looked_up("Rom", {}, TAGS) == ""
    tokenizer = CharacterTokenizer([*"abc", *TAGS])
    known = TranslationCodec(tokenizer, tokenizer, lexicon=lexicon).encode_source(texts).known
    assert [one.decode() for one in known.numpy()] == expected
    assert TranslationCodec(tokenizer, tokenizer).encode_source(texts).known is None

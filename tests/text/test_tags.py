"""Tags in front of texts."""

import re

import pytest

from kerasnmt.text import CharacterTokenizer, WordTokenizer, with_tags


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("V;PST;3;SG", "<V><PST><3><SG>walk"),
        (" V PST;;\t3 ; <SG> ", "<V><PST><3><SG>walk"),
        (["V", "<PST>", ""], "<V><PST>walk"),
        ("<V><PST>", "<V><PST>walk"),
        ("V;NOM(1,SG)", "<V><NOM(1,SG)>walk"),
        ("", "walk"),
        (" ; ", "walk"),
        ([], "walk"),
    ],
)
def test_tags_come_first(tags, expected):
    assert with_tags("walk", tags) == expected


@pytest.mark.parametrize(
    ("tags", "tag"),
    [
        ("V;<PST", "<<PST>"),
        ("<>", "<>"),
        ("<", "<<>"),
        (["de", "old English"], "<old English>"),
        (["a\0b"], "<a\0b>"),
        ("de;s", "<s>"),
        ("</s>", "</s>"),
        (["pad"], "<pad>"),
        ("unk", "<unk>"),
    ],
)
def test_a_tag_that_is_none(tags, tag):
    with pytest.raises(ValueError, match=re.escape(f"Received: {tag!r} in {tags!r}.")) as caught:
        with_tags("walk", tags)
    assert "Expected tags without spaces" in str(caught.value)


def test_tags_of_a_tokenizer():
    assert CharacterTokenizer.train(["<N>a", "<V><s>b"], tags=True).tags == ["<N>", "<V>"]
    assert CharacterTokenizer.train(["<N>a"]).tags == []
    assert WordTokenizer(["<N>"]).tags == []  # a tag in front of a word is part of it


@pytest.mark.parametrize("text", ["", "  ", "\u3000"])
def test_a_text_without_words_gets_no_tags(text):
    assert with_tags(text, "V;PST") == text
    with pytest.raises(ValueError, match="Expected tags without spaces"):
        with_tags(text, "<V<PST>")


def test_tags_replace_the_space_in_front_of_a_text():
    """The model reads the same with and without this space."""
    assert with_tags(" \u3000walk on ", "V") == "<V>walk on "
    assert with_tags(" walk", "") == " walk"

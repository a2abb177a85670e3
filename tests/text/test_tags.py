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
        ("<V><PST>", "<V><PST>"),
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

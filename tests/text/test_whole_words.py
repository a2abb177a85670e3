import re

import numpy as np
import pytest

from kerasnmt.text import CharacterTokenizer, Glossary, PunctuationTokenizer, WordTokenizer
from kerasnmt.text.term_lines import (
    Term,
    check_contradictions,
    joined_lines,
    parse_terms,
    term_line,
    unmet,
)
from kerasnmt.text.whole_words import occurs, word_places


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("car", "my car.", True),
        ("car", "carpet", False),
        ("car", "a scar, a carpet and a car", True),
        ("New York", "(New York)", True),
        ("New York", "New Yorker", False),
        ("homme", "l'homme", True),
        ("é", "été", False),
        ("e", "e\u0301te", False),  # the accent belongs to the letter
        ("U.S.", "the U.S. army", True),
        ("3", "35", False),
        ("東京", "は東京都です", True),
        ("กรุงเทพ", "อยู่กรุงเทพครับ", True),
        ("서울", "서울에", False),  # Korean has spaces
        ("ที", "ที่บ้าน", False),  # a mark follows
        ("บ้าน", "ที่บ้าน", True),
        ("خواهم", "می\u200cخواهم", False),  # a joiner is within the word
        ("می", "می\u200cخواهم", False),
        ("می\u200cخواهم", "می\u200cخواهم.", True),
        ("Привет", "Приветы", False),
        ("🙂", "ok🙂ok", True),
        ("a b", "a  b", False),
    ],
)
def test_occurs_as_whole_words(phrase, text, expected):
    assert occurs(phrase, text) is expected


def test_word_places_of_tokens():
    entries = ["", "<unk>", "<s>", "</s>", "▁", "▁a", "b", "(", "東", "ี", ",", "กี"]
    opens, closes = word_places(entries, True)
    np.testing.assert_array_equal(opens, [0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1])
    # A mark of the vocabulary may follow each letter of a script without spaces.
    np.testing.assert_array_equal(closes, [0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0])
    opens, closes = word_places([*entries[:9], ","], True)
    np.testing.assert_array_equal(closes, [0, 0, 0, 0, 1, 0, 0, 1, 1, 0])
    assert all(map(np.all, word_places(entries, False)))
    for tokenizer in (WordTokenizer(["a"]), PunctuationTokenizer(["a"])):
        assert np.all(tokenizer.word_places)
    opens, _ = CharacterTokenizer("a b").word_places
    np.testing.assert_array_equal(opens, [0, 0, 0, 0, 0, 1, 0])


def test_lines_of_terms():
    line = term_line(["New York", ["dog", "dogs"]], ["cat"])
    assert line == "New York\tdog|dogs\t!cat"
    assert parse_terms(line) == [
        Term(("New York",), True),
        Term(("dog", "dogs"), True),
        Term(("cat",), False),
    ]
    assert parse_terms(" \t a || b \t! x |y") == [Term(("a", "b"), True), Term(("x", "y"), False)]
    assert parse_terms("") == []
    assert joined_lines("a\tb", "", "b\tc") == "a\tb\tc"


@pytest.mark.parametrize("term", ["", " ", "a\tb", "a|b", "!a", "a\nb", 7, [], [""]])
def test_malformed_terms(term):
    with pytest.raises(ValueError, match=r"Expected .*term"):
        term_line([term])


def test_terms_that_contradict_each_other():
    for line, term, forbidden in (
        ("chien\t!chien", "'chien'", "'chien'"),
        ("!a|b\tc\ta x|(b)", "'a x' or '(b)'", "'a' or 'b'"),
        ("New York\t!York", "'New York'", "'York'"),
        ("e\u0301\t!é", "'e\u0301'", "'é'"),
    ):
        message = f"the term {term} of text 3, which must occur, and {forbidden}, which must not."
        with pytest.raises(ValueError, match=re.escape(message)):
            check_contradictions(line, " of text 3")
    for line in ("chien|chat\t!chien", "!York\tNew Yorker", "!New York\tYork", "!a\t!a", "a"):
        check_contradictions(line)


def test_unmet_terms():
    line = "a dog\tcat|cats\t!bird"
    dog, cat, bird = parse_terms(line)
    assert unmet(line, "a dog, cats") == []
    assert unmet(line, "a dogs and a bird") == [(dog, True), (cat, True), (bird, True)]
    # As the model writes them: it cannot write "a dog", and writes "cat" in capitals.
    written = ["", "CAT", "", "BIRD"]
    assert unmet(line, "CAT BIRD", written) == [(dog, False), (bird, True)]
    # What it cannot write can replace an unknown word.
    assert unmet(line, "a dog CAT", written) == []
    assert unmet("!a dog", "a dog CAT", [""]) == [(parse_terms("!a dog")[0], False)]


def test_glossary():
    glossary = Glossary({"New York": "Nouvelle York", "York": ["York", "Yorck"], "dog": "chien"})
    assert len(glossary) == 3
    assert glossary.line("The dog of York") == "chien\tYork|Yorck"
    # The longest term counts, and "York" only where it stands alone.
    assert glossary.line("New York") == "Nouvelle York"
    assert glossary.line("York, New York") == "York|Yorck\tNouvelle York"
    assert glossary.line("Dog, dogs, doggy") == ""
    assert Glossary({"DOG": "chien"}, ignore_case=True).line("two Dog") == "chien"
    assert Glossary({"straße": "rue"}, ignore_case=True).line("STRASSE") == "rue"
    assert Glossary({"東京": "Tokyo"}).line("私は東京に住む") == "Tokyo"
    both = Glossary({"Dog": "chien", "dog": ["chienne", "chien"]}, ignore_case=True)
    assert both.line("a DOG") == "chien|chienne"
    assert Glossary({"New York": "NY", "New  York": "NYC"}).line("New York") == "NY|NYC"
    # The longest of the terms that overlap counts, wherever it begins.
    assert Glossary({"a b": "1", "b c d": "2", "a": "3"}).line("a b c d a b") == "3\t2\t1"
    assert Glossary({"c": "1", "b c": "2", "far longer": "3"}).line("a b c") == "2"
    many = Glossary({f"word{number}": "w" for number in range(20_000)})
    assert many.line("word7 " * 2_000) == "w"
    with pytest.raises(ValueError, match="Expected a glossary as a dict"):
        Glossary([("dog", "chien")])

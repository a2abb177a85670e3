"""Parts of texts that a model translates one by one, without TensorFlow."""

import functools
import re
import unicodedata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from kerasnmt.text.sentence_ends import split_text

# White space, which can stand in a character class of any library of regular expressions.
SPACES = (
    "\t\n\v\f\r\x1e\x1f \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
APOSTROPHES = "'’"
OUTER_SPACES = f"^[{SPACES}]+|[{SPACES}]+$"


class Parts(NamedTuple):
    """Split of texts into sentences or words, which a model translates one by one.

    Tags at the start of a text, such as `<de>`, stand in front of each part.

    Attributes:
        words: Whether the parts are words, without the signs around them, not sentences; see
            `split_into_words`.
        tags: Tags that the model knows.
    """

    words: bool
    tags: Sequence[str]

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Self | None:
        """Return the split of a described model, or None if it translates texts as a whole."""
        words, sentences = (description.get(f"split_{name}") for name in ("words", "sentences"))
        return cls(bool(words), description.get("source_tags", ())) if words or sentences else None

    @property
    def unit(self) -> str:
        """What a part is: "word" or "sentence"."""
        return "word" if self.words else "sentence"

    def split(self, text: str) -> list[str]:
        """Return the parts of a text, at least one, which may be empty."""
        tags = tags_at_start(text, self.tags)
        parts = (split_into_words if self.words else split_text)(text[len(tags) :])
        return [tags + part if part else part for part in parts]

    def warn_of_lost(self, lexicon: Mapping[str, str]) -> None:
        """Warn of the texts of a lexicon that are never looked up, because they are no part."""
        lost = [
            text
            for text in lexicon
            if not text.isalpha()  # which is fast, and right for both kinds of parts
            and (tags_at_start(text, self.tags) or self.split(text) != [text])
        ]
        if lost:
            named = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
            warnings.warn(
                f"{len(lost)} texts of the lexicon are never found: {named}. Texts are split into "
                f"single {self.unit}s, without tags and the signs around them, and then looked up",
                stacklevel=2,
            )


@functools.lru_cache(maxsize=16)
def starts_with(tags: tuple[str, ...]) -> str:
    """Return a pattern of tags at the start of a text, if any, with white space before each."""
    known = "|".join(map(re.escape, tags))
    return f"^(?:[{SPACES}]*(?:{known}))*" if known else "^"


def tags_at_start(text: str, tags: Iterable[str]) -> str:
    """Return the tags with which a text begins, with the white space before each."""
    found: Any = re.match(starts_with(tuple(tags)), text)  # matches any text
    return found[0]


def split_into_words(text: str) -> list[str]:
    """Split a text into words, at least one, which may be empty.

    A word begins with a letter or a number, and ends with one of them or a mark. An apostrophe
    before or after it belongs to it, but not both, which are quotation marks.
    """
    words = map(_bare, re.split(f"[{SPACES}]+", text))
    return [word for word in words if word] or [""]


def _bare(word: str) -> str:
    """Return a word without the signs around it."""
    kinds = ["A" if one in APOSTROPHES else unicodedata.category(one)[0] for one in word]
    first = next((place for place, kind in enumerate(kinds) if kind in "LNA"), len(word))
    last = next((place for place in range(len(word), first, -1) if kinds[place - 1] in "LNMA"), 0)
    word = word[first:last]
    if len(word) > 1 and word[0] in APOSTROPHES and word[-1] in APOSTROPHES:
        word = word[1:-1]
    return "" if all(one in APOSTROPHES for one in word) else word


def in_every_form(lexicon: Mapping[str, str]) -> dict[str, str]:
    """Return a lexicon whose texts are also there in the other Unicode form and apostrophe."""
    every = dict(lexicon)
    for change in (
        lambda text: text.replace("’", "'"),
        lambda text: text.replace("'", "’"),
        functools.partial(unicodedata.normalize, "NFC"),
        functools.partial(unicodedata.normalize, "NFD"),
    ):
        every |= {change(text): answer for text, answer in every.items()} | every
    return every


def looked_up(text: str, lexicon: Mapping[str, str], tags: Iterable[str]) -> str:
    """Return the translation of a text in a lexicon, or an empty string.

    The text is looked up without the tags at its start, and then in lowercase.
    """
    if not lexicon:
        return ""
    bare = text[len(tags_at_start(text, tags)) :].strip(SPACES)
    return lexicon.get(bare) or lexicon.get(bare.lower(), "")

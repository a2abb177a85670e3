"""Sentences of a text, without TensorFlow; see `kerasnmt.text.split_sentences` for the rule."""

import functools
import re
import unicodedata
from collections.abc import Sequence

END, NO_END = "\x1e", "\x1f"
# White space. `\s` differs between libraries of regular expressions.
_SPACE, _NO_BREAK = "\t\n\f\r ", "\u00a0\u202f"
_CLOSING = rf"(?:[\"'”’)\]]|[{_SPACE}{_NO_BREAK}]?»)*"
_CAPITAL = rf"([\"'“‘«„¿¡(\[]*[{_SPACE}{_NO_BREAK}]?[\p{{Lu}}\p{{Lt}}\p{{Lo}}])"
# Titles, and other abbreviations that stand before a name or within a sentence.
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|MM|Mme|Mlle|Dr|Prof|St|Ste|Mt|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Hon|Rev|Gov|Sen|Rep|Herr|Hr|"
    "Fr|Sra|Srta|Dra|Ing|No|Nr|vs|cf|etc|al|[Ff]ig|[Vv]ol|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|"
    "Jul|Aug|Sept?|Oct|Nov|Dec|bzw|usw|ca|[Aa]rt|pp|Ph"
)
_ABBREVIATIONS += f"|{_ABBREVIATIONS.upper()}"
# Two letters before the period: initials such as "J. Smith" and "U.S. Army" are no ends.
_BEFORE_PERIOD = r"([\p{L}\p{N}][\p{L}\p{M}\p{N}]|[\"”’»)\]%])"
_PERIOD = (
    rf"{_BEFORE_PERIOD}((?:\.+|…){_CLOSING})[{_SPACE}]+{_CAPITAL}",
    rf"\1\2{END}\3",
)
# Regular expressions of RE2 and their replacements, after which `END` follows each sentence.
REPLACEMENTS = (
    (f"[{END}{NO_END}]", " "),
    (rf"\b({_ABBREVIATIONS})\.[{_SPACE}]+", rf"\1.{NO_END}"),
    _PERIOD,
    _PERIOD,  # again, because a match takes the first letter of the next sentence
    (rf"([!?؟।]+{_CLOSING})[{_SPACE}]+{_CAPITAL}", rf"\1{END}\2"),
    (rf"([。！？｡]+[」』”’）]*)[{_SPACE}]*", rf"\1{END}"),
    (NO_END, " "),
)


# Without one of these before its last character, a text is one sentence.
_MARKS = re.compile("[.…!?؟।。！？｡]")
# No letters and numbers have higher code points.
_LETTERS = 0x40000


def split_text(text: str) -> list[str]:
    """Split a text into its sentences, at least one."""
    if not _MARKS.search(text, 0, len(text) - 1):
        return [text.replace(END, " ").replace(NO_END, " ")]
    for pattern, replacement in _replacements():
        text = pattern.sub(replacement, text)
    return text.rstrip(END).split(END)


def join_texts(sentences: Sequence[str]) -> str:
    """Join sentences with a space, or without one after `。`, `！` or `？`."""
    text = END.join(sentences).strip(END)
    text = re.sub(rf"([。！？｡][」』”’）]*){END}+", r"\1", text)
    return re.sub(f"{END}+", " ", text)


def separator(sentence: str) -> str:
    """Return what stands between a sentence that is not empty and the next one."""
    return "" if re.search(r"[。！？｡][」』”’）]*\Z", sentence) else " "


@functools.cache
def _replacements() -> list[tuple[re.Pattern, str]]:
    """Return `REPLACEMENTS` for Python, whose regular expressions have no categories of Unicode."""
    characters: dict[str, list[str]] = {}
    for code in range(_LETTERS):
        category = unicodedata.category(chr(code))
        if category[0] in "LMN":
            for name in (category[0], category):
                characters.setdefault(name, []).append(chr(code))

    def of_category(match: re.Match) -> str:
        return "".join(characters[match[1]])

    return [
        (re.compile(re.sub(r"\\p\{(\w+)\}", of_category, pattern), re.ASCII), replacement)
        for pattern, replacement in REPLACEMENTS
    ]

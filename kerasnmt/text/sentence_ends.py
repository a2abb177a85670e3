"""Sentences of a text, without TensorFlow; see `kerasnmt.text.split_sentences` for the rule."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence

END, NO_END = "\x1e", "\x1f"
# White space. `\s` differs between libraries of regular expressions.
_SPACE, _NO_BREAK = "\t\n\f\r ", "\u00a0\u202f"
_CLOSING = rf"(?:[\"'”’)\]]|[{_SPACE}{_NO_BREAK}]?»)*"
_CAPITAL = rf"([\"'“‘«„¿¡(\[]*[{_SPACE}{_NO_BREAK}]?[\p{{Lu}}\p{{Lt}}\p{{Lo}}])"
# Titles, and other abbreviations that stand before a name or within a sentence.
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|MM|Mme|Mlle|Dr|Prof|St|Ste|Mt|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Hon|Rev|Gov|Sen|Rep|Herr|Hr|"
    "Fr|Sra|Srta|Dra|Ing|No|Nr|vs|cf|etc|al|[Ff]ig|[Vv]ol|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|"
    "Jul|Aug|Sept?|Oct|Nov|Dec|bzw|usw|ca|[Aa]rt|pp|Ph|Mio|Mrd|Abb|Bd|Str|Tel|Frl|[Gg]eb|med|evtl|ggf|"
    "inkl|zzgl|[Vv]gl|sog|av|apr|env|Mgr"
)
# Numbers of days, centuries and kings are no ends: "am 24. Dezember", "Karl II. von Spanien".
_NO_ENDS = rf"{_ABBREVIATIONS}|{_ABBREVIATIONS.upper()}|{_ABBREVIATIONS.lower()}|\d\d?|[IVX]+"
# Two letters before the period: initials such as "J. Smith" and "U.S. Army" are no ends.
_BEFORE_PERIOD = r"([\p{L}\p{N}][\p{L}\p{M}\p{N}]|[\"”’»)\]%])"
_PERIOD = (
    rf"{_BEFORE_PERIOD}((?:\.+|…){_CLOSING})[{_SPACE}]+{_CAPITAL}",
    rf"\1\2{END}\3",
)
_LOWERCASE = (
    rf"([\p{{L}}\p{{N}}][\p{{L}}\p{{M}}\p{{N}}]\.|[!?؟]+)[{_SPACE}]+([¿¡]?[\p{{Ll}}])",
    rf"\1{END}\2",
)
# Regular expressions of RE2 and their replacements, after which `END` follows each sentence. Some
# stand twice, because a match takes the first letter of the next sentence.
BEGINNING = (
    (f"[{END}{NO_END}]", " "),
    (rf"\b({_NO_ENDS})\.[{_SPACE}]+", rf"\1.{NO_END}"),
)
WITHOUT_CAPITALS = (_LOWERCASE, _LOWERCASE)  # only for texts that do not match `CAPITALS`
REST = (
    _PERIOD,
    _PERIOD,
    (rf"([!?؟।]+{_CLOSING})[{_SPACE}]+{_CAPITAL}", rf"\1{END}\2"),
    (rf"([。！？｡]+[」』”’）]*)[{_SPACE}]*", rf"\1{END}"),
    (NO_END, " "),
)
CAPITALS = r"[\p{Lu}\p{Lt}]"


# Without one of these before its last character, a text is one sentence.
_MARKS = re.compile("[.…!?؟।。！？｡]")
# No letters and numbers have higher code points.
_LETTERS = 0x40000


def split_text(text: str) -> list[str]:
    """Split a text into its sentences, at least one."""
    if not _MARKS.search(text, 0, len(text) - 1):
        return [text.replace(END, " ").replace(NO_END, " ")]
    text = _replaced(text, BEGINNING)
    if not _compiled(CAPITALS).search(text):
        text = _replaced(text, WITHOUT_CAPITALS)
    text = _replaced(text, REST)
    return text.rstrip(END).split(END)


def join_texts(sentences: Sequence[str]) -> str:
    """Join sentences with a space, or without one after `。`, `！` or `？`."""
    text = END.join(sentences).strip(END)
    text = re.sub(rf"([。！？｡][」』”’）]*){END}+", r"\1", text)
    return re.sub(f"{END}+", " ", text)


def separator(sentence: str) -> str:
    """Return what stands between a sentence that is not empty and the next one."""
    return "" if re.search(r"[。！？｡][」』”’）]*\Z", sentence) else " "


def _replaced(text: str, replacements: Iterable[tuple[str, str]]) -> str:
    for pattern, replacement in replacements:
        text = _compiled(pattern).sub(replacement, text)
    return text


@functools.cache
def _compiled(pattern: str) -> re.Pattern:
    """Compile a pattern, in whose classes Python has no categories of Unicode."""
    return re.compile(
        re.sub(r"\\p\{(\w+)\}", lambda found: _characters()[found[1]], pattern), re.ASCII
    )


@functools.cache
def _characters() -> dict[str, str]:
    """Return the letters, marks and numbers of each category of Unicode."""
    characters: dict[str, list[str]] = {}
    for code in range(_LETTERS):
        category = unicodedata.category(chr(code))
        if category[0] in "LMN":
            for name in (category[0], category):
                characters.setdefault(name, []).append(chr(code))
    return {name: "".join(found) for name, found in characters.items()}

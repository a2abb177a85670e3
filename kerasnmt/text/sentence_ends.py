"""Sentences of a text, without TensorFlow; see `kerasnmt.text.split_sentences` for the rule."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence

END, NO_END = "\x1e", "\x1f"
# White space. `\s` differs between libraries of regular expressions.
_SPACE, _NO_BREAK = "\t\n\f\r ", "\u00a0\u202f"
_CLOSING = rf"(?:[\"'“”’)\]]|[{_SPACE}{_NO_BREAK}]?»)*"
_CAPITAL = rf"((?:[—–\-] ?)?[\"'“‘«„¿¡(\[]*[{_SPACE}{_NO_BREAK}]?[\p{{Lu}}\p{{Lt}}\p{{Lo}}])"
# Titles, and other abbreviations that stand before a name or within a sentence.
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|MM|Mme|Mlle|Dr|Prof|St|Ste|Mt|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Hon|Rev|Gov|Sen|Rep|Herr|Hr|"
    "Fr|Sra|Srta|Dra|Ing|Nr|vs|cf|etc|al|[Ff]ig|[Vv]ol|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|"
    "Jul|Aug|Sept?|Oct|Nov|Dec|bzw|usw|ca|[Aa]rt|pp|Ph|Mio|Mrd|Abb|Bd|Str|Tel|Frl|[Gg]eb|evtl|ggf|"
    "inkl|zzgl|[Vv]gl|sog|bspw|[Mm]ax|approx|Av|apr|env|Mgr|EE|Uds?|Sn|Doç|TP|GS|[Уу]л|[Пп]роф|[Сс]м|"
    "Δρ|डॉ"
)
# Those that are also words in other letters: "sen.", "prof.", "HON."
_WORDS = "mm|ste|gen|col|hon|sen|rep|al|co|mar|jun|jul|sept?|nov|prof|tel|av|ee|sn|gs"
_RARE = [one for one in _ABBREVIATIONS.split("|") if one.lower() not in _WORDS.split("|")]
_CAPITALS_TOO = f"{_ABBREVIATIONS}|{'|'.join(_RARE).upper()}"
# Numbers of days, centuries and kings are no ends: "am 24. Dezember", "Karl II. von Spanien".
_NUMBERS = r"[12]?\d|3[01]|[IVX]+"
# What stands before a whole word or number, but not before the end of a price or a time.
_BEFORE_WORD = r"(^|[^\p{L}\p{M}\p{N}:.,$€£\-])"
# Two letters before the period: initials such as "J. Smith" and "U.S. Army" are no ends.
_BEFORE_PERIOD = r"([\p{L}\p{N}][\p{L}\p{M}\p{N}]|[\"“”’»)\]%€$£])"
_PERIOD = (
    rf"{_BEFORE_PERIOD}((?:\.+|…){_CLOSING})[{_SPACE}]+{_CAPITAL}",
    rf"\1\2{END}\3",
)
_QUESTION = "[\u0370-\u03ff\u1f00-\u1fff][\\p{M}]*[;\u037e]"  # of Greek
_LOWERCASE = (
    rf"([\p{{L}}\p{{N}}][\p{{L}}\p{{M}}\p{{N}}]\.|[!?؟]|{_QUESTION})[{_SPACE}]+([¿¡]?[\p{{Ll}}])",
    rf"\1{END}\2",
)


def _no_end(words: str) -> tuple[str, str]:
    return rf"{_BEFORE_WORD}({words})\.[\t ]+", rf"\1\2.{NO_END}"


# Regular expressions of RE2 and their replacements, after which `END` follows each sentence. Some
# stand twice, because a match takes a character of the next one.
BEGINNING = (
    (f"[{END}{NO_END}]", " "),
    *[_no_end(f"{_CAPITALS_TOO}|{_NUMBERS}")] * 2,
)
WITHOUT_CAPITALS = (  # only for texts that do not match `CAPITALS`
    *[_no_end("|".join(_RARE).lower())] * 2,
    *[_LOWERCASE] * 2,
)
REST = (
    _PERIOD,
    _PERIOD,
    (rf"((?:[!?؟।]|{_QUESTION}){_CLOSING})[{_SPACE}]+{_CAPITAL}", rf"\1{END}\2"),
    (rf"([。！？｡]+[」』”’）]*)[{_SPACE}]*", rf"\1{END}"),
    (NO_END, " "),
)
CAPITALS = r"[\p{Lu}\p{Lt}]"


# Without one of these before its last character, a text is one sentence.
_MARKS = re.compile("[.…!?؟।。！？｡;\u037e]")
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
    """Return the ranges of letters, marks and numbers of each category of Unicode."""
    ranges: dict[str, list[list[int]]] = {}
    for code in range(_LETTERS):
        category = unicodedata.category(chr(code))
        if category[0] in "LMN":
            for name in (category[0], category):
                found = ranges.setdefault(name, [])
                if found and found[-1][1] == code - 1:
                    found[-1][1] = code
                else:
                    found.append([code, code])
    return {
        name: "".join(f"{chr(first)}-{chr(last)}" for first, last in found)
        for name, found in ranges.items()
    }

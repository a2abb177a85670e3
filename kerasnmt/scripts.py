"""Scripts of texts: which one they are written in, and whether it has spaces between words."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

# Scripts without spaces between words, by the first word of the Unicode names of their letters.
_WITHOUT_SPACES = {
    *("han", "japanese", "cjk", "ideographic", "hiragana", "katakana", "hentaigana", "bopomofo"),
    *("thai", "lao", "khmer", "myanmar", "tibetan", "tai", "new", "javanese", "balinese"),
}
_KANA = ("hiragana", "katakana")
# The planes of Unicode behind these have rare Han characters, and no letters.
_CODE_POINTS_OF_LETTERS = 0x20000
_EAST_ASIAN = ("cjk", "ideographic", "bopomofo", *_KANA)
# Japanese has about one kana for each kanji. Chinese texts quote a few.
_LEAST_SHARE_OF_KANA = 0.1
# Letters of an average word in an alphabet. In the scripts without spaces, words are shorter.
_LETTERS_PER_WORD = 5
_LONGEST_MEAN_WORD, _LONGEST_MEAN_SHORT_WORD = 15, 5


def script_of(texts: Iterable[str]) -> str | None:
    """Return the script that most words of the texts are written in.

    Args:
        texts: Texts of one language.

    Returns:
        `"japanese"` for kana with or without Han characters, `"han"` for Han characters with hardly
        any kana, otherwise the first word of the Unicode names of the letters in lowercase, such as
        `"latin"`, `"thai"`, `"hangul"`, `"khmer"`, `"lao"`, `"myanmar"` (Burmese) or `"tibetan"`.
        None if the texts have no letters.
    """
    counts: Counter[str] = Counter()
    for letter, count in _letters(texts).items():
        counts[_script(letter)] += count
    words = {
        script: count / (1 if script in _WITHOUT_SPACES else _LETTERS_PER_WORD)
        for script, count in counts.items()
    }
    east_asian = sum(words.pop(script, 0) for script in _EAST_ASIAN)
    if east_asian > max(words.values(), default=0):
        kana = sum(counts[script] for script in _KANA)
        return "japanese" if kana >= _LEAST_SHARE_OF_KANA * east_asian else "han"
    return max(words, key=lambda script: words[script], default=None)


def is_script(name: str) -> bool:
    """Return whether `script_of` returns a name for some texts."""
    letters = filter(str.isalpha, map(chr, range(_CODE_POINTS_OF_LETTERS)))
    return name in ("japanese", "han") or any(_script(letter) == name for letter in letters)


def is_unspaced_script(script: str | None) -> bool:
    """Return whether a script of `script_of` is written without spaces between words."""
    return script in _WITHOUT_SPACES


def is_unspaced_letter(letter: str) -> bool:
    """Return whether a letter belongs to a script without spaces between words."""
    return letter.isalpha() and _script(letter) in _WITHOUT_SPACES


def has_spaces(texts: Iterable[str]) -> bool:
    """Return whether the texts have spaces between their words.

    The length of the parts between spaces decides. Chinese that was split into words has spaces.
    English whose spaces were removed has none. Thai has spaces between sentences, not words.

    Args:
        texts: Texts of one language.

    Returns:
        Whether the parts between spaces are as short as words. Texts that are one word each have
        spaces in this sense.
    """
    texts = list(texts)
    parts = sum(len(text.split()) for text in texts)
    letters = _letters(texts).total()
    short = is_unspaced_script(script_of(texts))
    return letters <= parts * (_LONGEST_MEAN_SHORT_WORD if short else _LONGEST_MEAN_WORD)


def _letters(texts: Iterable[str]) -> Counter[str]:
    """Return the number of occurrences of each letter."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    return Counter({letter: n for letter, n in counts.items() if letter.isalpha()})


@cache
def _script(letter: str) -> str:
    """Return the first word of the name of a letter's script."""
    # Compatibility letters, such as half-width katakana, count as the letters that they stand for.
    plain = unicodedata.normalize("NFKC", letter)[:1]
    name = unicodedata.name(plain, "unknown").lower()
    return name.split()[0].partition("-")[0]

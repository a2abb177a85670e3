"""Cardinal and ordinal numbers from 1 to 99 in English and German."""

_WORDS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen;
    twenty thirty forty fifty sixty seventy eighty ninety;
    eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
    sechzehn siebzehn achtzehn neunzehn;
    zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"""
_ONES, _TENS, _EINER, _ZEHNER = (row.split() for row in _WORDS.split(";"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_ORDNUNGSZAHLEN = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}


def cardinal(number: int) -> tuple[str, str]:
    """Return a number in words of both languages: 24 is "twenty-four", "vierundzwanzig"."""
    if not 1 <= number <= 99:
        raise ValueError(
            f"Expected a number from 1 to 99. Received: number={number}. Write it in digits."
        )
    if number < 20:
        return _ONES[number - 1], _EINER[number - 1]
    ten, one = number // 10 - 2, number % 10
    if not one:
        return _TENS[ten], _ZEHNER[ten]
    einer = "ein" if one == 1 else _EINER[one - 1]
    return f"{_TENS[ten]}-{_ONES[one - 1]}", f"{einer}und{_ZEHNER[ten]}"


def ordinal(number: int) -> tuple[str, str]:
    """Return an ordinal in both languages, in German without ending: 3 is "third", "dritt"."""
    english, german = cardinal(number)
    head, dash, last = english.rpartition("-")
    if last in _ORDINALS:
        last = _ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    ending = "t" if number < 20 else "st"
    return head + dash + last, _ORDNUNGSZAHLEN.get(number, german + ending)

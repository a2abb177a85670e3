"""Short phrases, dates, times and prices, which the sentences of Tatoeba seldom have."""

import random
from pathlib import Path

from noise import Pair

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
DATES = {
    "en": ["I was born on {}.", "The meeting is on {}.", "I'm coming on {}.", "Today is {}.",
           "See you on {}!", "We'll arrive on {}.", "It happened on {}."],
    "de": ["Ich wurde am {} geboren.", "Das Treffen ist am {}.", "Ich komme am {}.",
           "Heute ist der {}.", "Bis zum {}!", "Wir kommen am {} an.", "Es geschah am {}."],
    "fr": ["Je suis né le {}.", "La réunion est le {}.", "Je viens le {}.",
           "Aujourd'hui, c'est le {}.", "On se voit le {} !", "Nous arriverons le {}.",
           "C'est arrivé le {}."],
}  # fmt: skip
TIMES = {
    "en": ["The train leaves at {}.", "He comes at {}.", "It's {}.", "The meeting is at {}.",
           "The shop opens at {}.", "I get up at {}."],
    "de": ["Der Zug fährt um {} ab.", "Er kommt um {}.", "Es ist {}.", "Das Treffen ist um {}.",
           "Der Laden öffnet um {}.", "Ich stehe um {} auf."],
    "fr": ["Le train part à {}.", "Il vient à {}.", "Il est {}.", "La réunion est à {}.",
           "Le magasin ouvre à {}.", "Je me lève à {}."],
}  # fmt: skip
PRICES = {
    "en": ["It costs {}.", "The price is {}.", "I paid {} for it.", "That's {}, please.",
           "I need {}.", "He owes me {}."],
    "de": ["Es kostet {}.", "Der Preis beträgt {}.", "Ich habe {} dafür bezahlt.",
           "Das macht {}, bitte.", "Ich brauche {}.", "Er schuldet mir {}."],
    "fr": ["Ça coûte {}.", "Le prix est de {}.", "J'ai payé {} pour ça.",
           "Ça fait {}, s'il vous plaît.", "J'ai besoin de {}.", "Il me doit {}."],
}  # fmt: skip
# How a text of each language writes sums of money: as a source, and as a translation.
MONEY = {
    "en": {"dollar": ["${}", "{} dollars"], "euro": ["€{}", "{} euros"]},
    "de": {"dollar": ["{} Dollar", "{} $"], "euro": ["{} Euro", "{} €"]},
    "fr": {"dollar": ["{} dollars", "{} $"], "euro": ["{} euros", "{} €"]},
}


def short_phrases(languages: tuple[str, str]) -> list[Pair]:
    """Return greetings and answers, with each mark at the end, and without one."""
    columns = [("en", "de", "fr").index(language) for language in languages]
    lines = (Path(__file__).parent / "phrases.tsv").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        cells = [line.split("\t")[column] for column in columns]
        if all(cells):
            bare = [cell.rstrip(".?").rstrip() for cell in cells]
            found += [tuple(cells), tuple(bare), (bare[0].lower(), bare[1])]
            if not cells[0].endswith("?"):
                space = [" !" if language == "fr" else "!" for language in languages]
                found.append((bare[0] + space[0], bare[1] + space[1]))
    return found


def date(language: str, day: int, month: int, year: int | None) -> str:
    """Write a date."""
    name = MONTHS[language].split()[month]
    if language == "en":
        return f"{name} {day}" + (f", {year}" if year else "")
    written = {"de": f"{day}.", "fr": "1er" if day == 1 else str(day)}[language]
    return f"{written} {name}" + (f" {year}" if year else "")


def clock(language: str, hour: int, minute: int) -> str:
    """Write a time of the day."""
    if language == "fr":
        return f"{hour} h {minute:02}"
    return f"{hour}:{minute:02}" + (" Uhr" if language == "de" else "")


def amount(language: str, whole: int, cents: int | None) -> str:
    """Write a number with cents."""
    separators = {"en": (",", "."), "de": (".", ","), "fr": (" ", ",")}
    thousands, decimal = separators[language]
    return f"{whole:,}".replace(",", thousands) + ("" if cents is None else f"{decimal}{cents:02}")


def invented(languages: tuple[str, str], rng: random.Random) -> Pair:
    """Return a sentence with a random date, time or sum of money."""
    frames, values = rng.choice((DATES, TIMES, PRICES)), []
    if frames is DATES:
        when = rng.randint(1, 28), rng.randrange(12), rng.choice((None, rng.randint(1900, 2030)))
        values = [date(language, *when) for language in languages]
    elif frames is TIMES:
        at = rng.randrange(24), rng.randrange(60)
        values = [clock(language, *at) for language in languages]
        if languages[0] == "de" and rng.random() < 0.5:
            values[0] = values[0].replace(":", ".")
    else:
        sum_of_money = int(10 ** rng.uniform(0, 4)), rng.choice((None, rng.randrange(100)))
        currency = rng.choice(("dollar", "euro"))
        numbers = [amount(language, *sum_of_money) for language in languages]
        forms = [MONEY[language][currency] for language in languages]
        values = [rng.choice(forms[0]).format(numbers[0]), forms[1][0].format(numbers[1])]
        if languages[1] == "en" and currency == "euro":
            values[1] = forms[1][1].format(numbers[1])
    row = rng.randrange(len(frames["en"]))
    one, other = (frames[language][row] for language in languages)
    return one.format(values[0]), other.format(values[1])


def phrases(languages: tuple[str, str], times: int, seed: int) -> list[Pair]:
    """Return the short phrases several times, and twice as many invented sentences.

    Args:
        languages: Codes of both languages.
        times: How often each short phrase comes.
        seed: Seed of the choices.
    """
    short, rng = short_phrases(languages) * times, random.Random(seed)
    return short + [invented(languages, rng) for _ in range(2 * len(short))]

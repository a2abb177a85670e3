"""What people type: no capitals, missing marks, several sentences in a line, names and numbers.

Each function takes pairs of a text and its translation, and returns one pair. It returns None if it
does not apply. Names, numbers and addresses are the same in both texts, so that a model learns to
copy them.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence

Pair = tuple[str, str]

NUMBER_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve twenty thirty forty",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze vingt trente quarante",
}
DOMAINS = ("com", "org", "net", "de", "fr", "co.uk", "io", "eu")
QUOTES = (("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’"))
WORD = re.compile(r"[^\W\d_]+")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def upper(pair: Pair) -> Pair:
    """Write all letters as capitals."""
    return pair[0].upper(), pair[1].upper()


def lower(pair: Pair) -> Pair:
    """Write no capitals in the source. The translation has them."""
    return pair[0].lower(), pair[1]


def without_mark(pair: Pair) -> Pair | None:
    """Leave out the mark at the end of both texts."""
    one, other = (re.sub(r"\s*[.!?…]+$", "", text) for text in pair)
    return (one, other) if one != pair[0] and other != pair[1] else None


def other_quotes(pair: Pair, rng: random.Random) -> Pair | None:
    """Write typographic quotes and apostrophes in the source."""
    opening, closing = rng.choice(QUOTES)
    text = re.sub(r'"([^"]*)"', rf"{opening}\1{closing}", pair[0]).replace("'", "’")
    return (text, pair[1]) if text != pair[0] else None


def joined(pairs: Sequence[Pair]) -> Pair | None:
    """Write sentences one after another. Each of them ends with a mark in both texts."""
    ends = all(re.search(r"[.!?]$", text) for pair in pairs for text in pair)
    return (
        (" ".join(one for one, _ in pairs), " ".join(other for _, other in pairs)) if ends else None
    )


class Copies:
    """Puts invented names, numbers and addresses in place of those that both texts have.

    Args:
        pairs: Pairs, whose names are the pattern of the invented names.
        languages: Codes of both languages.
    """

    def __init__(self, pairs: Sequence[Pair], languages: Sequence[str]) -> None:
        self.names = Counter(name for pair in pairs for name in shared(pair, WORD) if is_name(name))
        self.following: dict[str, list[str]] = {}
        for name in self.names:
            text = f"^^{name}$"
            for place in range(len(name) + 1):
                self.following.setdefault(text[place : place + 2], []).append(text[place + 2])
        self.number_words = [
            {word: number for number, word in enumerate(NUMBER_WORDS[language].split())}
            for language in languages
        ]

    def name(self, rng: random.Random) -> str:
        """Invent a name of one word or two, by a Markov chain of the second order."""
        if not self.names:
            raise ValueError("Expected pairs with names that both texts have. Received: none.")
        name = "^^"
        while not (name.endswith("$") and len(name) > 5) and len(name) < 14:
            name = "^^" if name.endswith("$") else name
            name += rng.choice(self.following[name[-2:]])
        name = name.strip("^$").capitalize()
        return f"{name} {self.name(rng)}" if rng.random() < 0.15 else name

    def number(self, rng: random.Random) -> str:
        """Invent a whole number of up to six digits."""
        digits = rng.choice((1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6))
        return str(rng.randrange(10 ** (digits - 1), 10**digits))

    def address(self, rng: random.Random) -> str:
        """Invent an address of e-mail or of a page."""
        one, other = (self.name(rng).lower().replace(" ", rng.choice(".-_")) for _ in range(2))
        domain = f"{other.replace('_', '-')}.{rng.choice(DOMAINS)}"
        page = rng.choice((f"www.{domain}", f"https://{domain}/{one}", f"https://www.{domain}"))
        return rng.choice((f"{one}@{domain}", f"{one}{rng.randrange(100)}@{domain}", page))

    def renamed(self, pair: Pair, rng: random.Random) -> Pair | None:
        """Put another name, or an address, in place of one."""
        names = [name for name in shared(pair, WORD) if self.names[name] > 1]
        both = " ".join(pair)
        names = [name for name in names if not re.search(f"'{name}|{name}'", both)]  # l'Italie
        if not names:
            return None
        new = self.name(rng) if rng.random() < 0.85 else self.address(rng)
        return replaced(pair, rng.choice(names), new)

    def renumbered(self, pair: Pair, rng: random.Random) -> Pair | None:
        """Put another number in place of one, or of a word for one."""
        if numbers := shared(pair, NUMBER):
            old = rng.choice(numbers)
            new = re.sub(r"\d", lambda _: rng.choice("123456789"), old)
            return replaced(pair, old, new if re.search(r"\D", old) else self.number(rng))
        values = [
            [(words[word], word) for word in WORD.findall(text) if word in words]
            for text, words in zip(pair, self.number_words, strict=True)
        ]
        if list(map(len, values)) != [1, 1] or values[0][0][0] != values[1][0][0]:
            return None
        new = self.number(rng)
        one, other = (
            re.sub(rf"\b{found[0][1]}\b", new, text)
            for text, found in zip(pair, values, strict=True)
        )
        return one, other


def is_name(word: str) -> bool:
    """Whether a word that both texts have looks like a name."""
    return len(word) > 2 and word.istitle()


def shared(pair: Pair, pattern: re.Pattern) -> list[str]:
    """Return what both texts have equally often, sorted."""
    one, other = (Counter(pattern.findall(text)) for text in pair)
    return sorted(text for text in one if one[text] == other[text])


def replaced(pair: Pair, old: str, new: str) -> Pair:
    """Replace whole words or numbers in both texts."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    one, other = (pattern.sub(lambda _: new, text) for text in pair)
    return one, other


def noisy_pairs(
    pairs: Sequence[Pair], languages: Sequence[str], share: float, seed: int
) -> list[Pair]:
    """Return noisy versions of random pairs.

    Args:
        pairs: Pairs of a text and its translation.
        languages: Codes of both languages.
        share: Number of noisy pairs, relative to the number of pairs.
        seed: Seed of the choices.
    """
    rng, copies = random.Random(seed), Copies(pairs, languages)
    kinds: dict[Callable[[Pair], Pair | None], float] = {
        lower: 0.25,
        without_mark: 0.15,
        lambda pair: joined((pair, *rng.choices(pairs, k=rng.choice((1, 1, 2))))): 0.1,
        lambda pair: other_quotes(pair, rng): 0.05,
        lambda pair: copies.renamed(pair, rng): 0.35,
        lambda pair: copies.renumbered(pair, rng): 0.1,
    }
    if share:
        kinds = {kind: rate for kind, rate in kinds.items() if any(map(kind, pairs))}
    noisy: list[Pair] = []
    while len(noisy) < share * len(pairs):
        (kind,) = rng.choices([*kinds], [*kinds.values()])
        found = None
        while found is None:
            found = kind(rng.choice(pairs))
        if rng.random() < 0.15:  # sometimes two kinds together
            (second,) = rng.choices([*kinds], [*kinds.values()])
            found = second(found) or found
        noisy.append(found)
    return noisy

"""Random constituents: noun phrases, names, pronouns, and adverbials of time and place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeVar

from kerasnmt.data.builtin import lexicon
from kerasnmt.data.builtin.entries import Noun
from kerasnmt.data.builtin.lexicon import ADJECTIVES, NOUNS
from kerasnmt.data.builtin.names import draw_name
from kerasnmt.data.builtin.nominals import (
    PLURAL,
    PRONOUNS,
    THIRD,
    Nominal,
    date,
    noun_phrase,
    prepositional,
    pronoun,
)
from kerasnmt.data.builtin.numerals import cardinal
from kerasnmt.data.builtin.phrase import NOTHING, Phrase, aligned, linked

T = TypeVar("T")

_OWNERS = ("my", "his", "her", "our", "their", "your")
_SINGULAR: dict[str, float] = {"the": 9, "a": 5, "own": 4, "this": 2, "every": 0.8, "no": 0.6}
_PLURAL = {"the": 5, "": 3, "own": 2, "this": 1, "some": 1, "many": 1, "few": 0.6, "all": 1}
_MASS = {"the": 5, "": 5, "own": 2, "this": 1}
DEFINITE = {"the": 5, "own": 2, "this": 1}


class Constituents:
    """Random constituents from the lexicon and the names.

    The choices use only `rng.random()`, whose values for a seed are the same in every version of
    Python.

    Args:
        rng: Random number generator of all choices.
        unseen: Whether names come from the unseen population and are more frequent.
    """

    def __init__(self, rng: Random, *, unseen: bool = False) -> None:
        self._rng = rng
        self._unseen = unseen
        self._name_rate = 0.7 if unseen else 0.25
        self._names: set[str] = set()  # in the current sentence

    # --- Choices ---------------------------------------------------------------------------------

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def _pick(self, items: Sequence[T]) -> T:
        return items[int(self._rng.random() * len(items))]

    def _between(self, low: int, high: int) -> int:
        return low + int(self._rng.random() * (high - low + 1))

    def _weighted(self, weights: Mapping[T, float]) -> T:
        left = self._rng.random() * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        return item  # only after rounding errors

    def _maybe(self, probability: float, make: Callable[..., Phrase], *args: object) -> Phrase:
        return make(*args) if self._chance(probability) else NOTHING

    def _entry(self, table: Sequence[tuple[str, ...]]) -> Phrase:
        """Draw an entry from a table of fixed phrases."""
        return aligned(*self._pick(table))

    # --- Noun phrases ----------------------------------------------------------------------------

    def _name(self, kind: str) -> Phrase:
        """Draw a name that is not yet in the sentence."""
        while (name := draw_name(self._rng, kind, self._unseen)) in self._names:
            pass
        self._names.add(name)
        return linked(name, name)

    def _person_name(self) -> Nominal:
        gender = self._pick("mf")
        return Nominal(self._name(gender), gender=gender, name=True)

    def _nominal(
        self,
        noun: Noun,
        case: str,
        determiners: Mapping[str, float] | None = None,
        negation: object = None,
    ) -> Nominal:
        """Draw a noun phrase with the given noun.

        Args:
            noun: Noun of the phrase.
            case: `"nom"`, `"acc"` or `"dat"`.
            determiners: Weights of the determiners, if not all of them are possible.
            negation: Key of a "not" that is a part of the phrase in German (kein).
        """
        plural = bool(noun.plural) and self._chance(0.28)
        if negation:
            determiners = {"a" if noun.plural and not plural else "": 1}
        weights = determiners or ((_PLURAL if plural else _SINGULAR) if noun.plural else _MASS)
        determiner = self._weighted(weights)
        counted = plural and determiner in ("", "the", "own") and not negation
        number = self._number() if counted and self._chance(0.45) else None
        adjective = self._pick(ADJECTIVES[noun.kind]) if self._chance(0.3) else None
        degree = lexicon.DEGREES[0] if adjective and self._chance(0.1) else None
        definite = determiner in DEFINITE
        if determiner == "own":
            determiner = self._pick(_OWNERS)
        phrase = noun_phrase(
            noun,
            determiner,
            case,
            plural=plural,
            number=number,
            adjective=adjective,
            degree=degree,
            negation=negation,
        )
        if noun.kind == "person" and determiner in ("the", "a"):
            phrase += self._maybe(self._name_rate / 3, self._origin, noun)
        agreement = PLURAL if plural else THIRD
        return Nominal(phrase, agreement, noun.gender, noun.kind, definite=definite)

    def _origin(self, noun: Noun) -> Phrase:
        """Draw an attribute of a person: (a friend) of Miranda, (a doctor) from Kalonburg."""
        if noun in lexicon.KIN:
            return linked("of", "von") + self._name(self._pick("mf"))
        return linked("from", "aus") + self._name("place")

    def _number(self) -> int:
        """Draw a number of at least 2, usually a small one."""
        if self._chance(0.7):
            return self._between(2, 12)
        return self._between(13, 99) if self._chance(0.7) else self._between(100, 999)

    def _subject(
        self, kinds: Sequence[str] = ("person",) * 7 + ("animal", "thing"), *, pronoun: float = 0.25
    ) -> Nominal:
        kind = self._pick(kinds)
        if kind == "thing":
            kind = self._pick(("thing", "furniture", "container", "text", "place"))
        if kind == "person":
            if self._chance(pronoun):
                return self._pronoun(self._pick(tuple(PRONOUNS)), "nom")
            if self._chance(0.06):
                return self._couple()
            if self._chance(self._name_rate):
                return self._person_name()
        return self._nominal(self._pick(NOUNS[kind]), "nom")

    def _pronoun(self, person: str, case: str) -> Nominal:
        return Nominal(pronoun(person, case), PRONOUNS[person][0], person=person)

    def _couple(self) -> Nominal:
        """Draw two persons."""
        first = self._object(("person",), "nom", definite=True)
        second = self._nominal(self._pick(NOUNS["person"]), "nom", DEFINITE)
        phrase = first.phrase + linked("and", "und") + second.phrase
        return Nominal(phrase, PLURAL, kind="couple", definite=first.definite)

    def _object(self, kinds: Sequence[str], case: str, *, definite: bool) -> Nominal:
        """Draw an object. A `definite` object is possible in a negated clause."""
        kind = self._pick(kinds)
        if kind == "person" and self._chance(self._name_rate):
            return self._person_name()
        noun = self._pick(NOUNS[kind])
        return self._nominal(noun, case, DEFINITE if definite else None)

    # --- Adverbials ------------------------------------------------------------------------------

    def _place(self) -> Phrase:
        """Draw a place: in the old garden, at the station, in Kalonburg."""
        if self._chance(self._name_rate):
            return linked("in", "in") + self._name("place")
        noun = self._pick(NOUNS["place"])
        phrase = self._nominal(noun, "dat", DEFINITE).phrase
        return prepositional(*noun.prepositions, phrase)

    def _direction(self) -> Phrase:
        """Draw a direction: into the house, to the station, to Kalonburg."""
        if self._chance(self._name_rate * 1.5):
            origin = self._chance(0.25)
            phrase = linked("from", "von") + self._name("place") if origin else NOTHING
            return phrase + linked("to", "nach") + self._name("place")
        noun = self._pick(NOUNS["place"])
        into = noun.prepositions == ("in", "in") and self._chance(0.5)
        case = "acc" if into else "dat"
        phrase = self._nominal(noun, case, DEFINITE).phrase
        return prepositional(*(("into", "in") if into else ("to", "zu")), phrase)

    def _position(self, case: str) -> Phrase:
        """Draw a position on or near furniture, a place (dative) or a direction (accusative)."""
        noun = self._pick(NOUNS["furniture"])
        phrase = self._nominal(noun, case, DEFINITE).phrase
        source, target = self._pick(lexicon.POSITIONS)
        return prepositional(source, target, phrase)

    def _time(self, frame: str) -> Phrase:
        """Draw a time in the `"present"`, `"past"` or `"future"`."""
        kind = self._weighted({"fixed": 6, "weekday": 2, "clock": 1, "date": 1.5, "span": 1.5})
        if kind == "weekday":
            day = linked("on", "am") + self._entry(lexicon.WEEKDAYS)
            return day + self._maybe(0.3, self._clock)
        if kind == "clock":
            return self._clock()
        if kind == "date":
            year = self._between(1800, 2029) if frame == "past" and self._chance(0.6) else None
            if year and self._chance(0.5):
                return aligned("in_the year", "im Jahr") + linked(str(year), str(year))
            return date(self._between(1, 28), self._pick(lexicon.MONTHS), year)
        if kind == "span" and frame != "present":
            span = linked(*cardinal(self._between(2, 30))) + self._entry(lexicon.SPANS)
            if frame == "future":
                return linked("in", "in") + span
            ago = linked("ago", "vor")
            return Phrase(span.source + ago.source, ago.target + span.target)
        return self._entry(lexicon.TIMES[frame])

    def _clock(self) -> Phrase:
        hour = cardinal(self._between(2, 12))
        return linked("at", "um") + linked(*hour) + linked("o'clock", "Uhr")

    def _adverb(self, tense: str) -> Phrase:
        """Draw an adverb that precedes the English verb."""
        group = "perfect" if "perfect" in tense else tense
        return self._entry(lexicon.ADVERBS.get(group, lexicon.ADVERBS["modal"]))

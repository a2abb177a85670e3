"""Noun phrases, pronouns, prepositional phrases and dates, with German gender, case and endings."""

from __future__ import annotations

from typing import NamedTuple

from kerasnmt.data.builtin.entries import Adjective, Noun
from kerasnmt.data.builtin.numerals import cardinal, ordinal
from kerasnmt.data.builtin.phrase import Phrase, Words, aligned, linked, words

FIRST, THIRD, PLURAL = range(3)  # agreement, and the index of the form in the verb tables


def _cases(nominative: str, accusative: str, dative: str) -> dict[str, list[str]]:
    """Read four forms of each case: masculine, feminine, neuter, plural. `-` is no ending."""
    rows = {"nom": nominative, "acc": accusative, "dat": dative}
    return {case: row.replace("-", "").split(" ") for case, row in rows.items()}


_ARTICLE = _cases("der die das die", "den die das die", "dem der dem den")
_RELATIVE = _cases("der die das die", "den die das die", "dem der dem denen")
_STRONG = _cases("er e es e", "en e es e", "em er em en")
_EIN = _cases("- e - e", "en e - e", "em er em en")
_NONE = _cases("- - - -", "- - - -", "- - - -")
_WEAK = _cases("e e e en", "en e e en", "en en en en")
_MIXED = _cases("er e es en", "en e es en", "en en en en")
_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
}


class Determiner(NamedTuple):
    """English singular and plural; German stem, its endings, and the endings of an adjective."""

    source: str
    plural: str
    target: str
    endings: dict[str, list[str]]
    adjective: dict[str, list[str]]


DETERMINERS = {
    "": Determiner("", "", "", _NONE, _STRONG),
    "the": Determiner("the", "the", "", _ARTICLE, _WEAK),
    "a": Determiner("a", "", "ein", _EIN, _MIXED),
    "no": Determiner("no", "no", "kein", _EIN, _MIXED),
    "this": Determiner("this", "these", "dies", _STRONG, _WEAK),
    "every": Determiner("every", "", "jed", _STRONG, _WEAK),
    "all": Determiner("", "all", "all", _STRONG, _WEAK),
    "some": Determiner("", "some", "einig", _STRONG, _STRONG),
    "many": Determiner("", "many", "viel", _STRONG, _STRONG),
    "few": Determiner("", "few", "wenig", _STRONG, _STRONG),
    **{
        source: Determiner(source, source, target, _EIN, _MIXED)
        for source, target in {
            "my": "mein",
            "his": "sein",
            "her": "ihr",
            "our": "unser",
            "their": "ihr",
            "your": "Ihr",
        }.items()
    },
}
# Agreement, and English and German subject, accusative and dative. "you" is the polite form.
PRONOUNS: dict[str, tuple[int, str, str, str]] = {
    "I": (FIRST, "I ich", "me mich", "me mir"),
    "he": (THIRD, "he er", "him ihn", "him ihm"),
    "she": (THIRD, "she sie", "her sie", "her ihr"),
    "we": (PLURAL, "we wir", "us uns", "us uns"),
    "they": (PLURAL, "they sie", "them sie", "them ihnen"),
    "you": (PLURAL, "you Sie", "you Sie", "you Ihnen"),
}
_IT = {"m": "er", "f": "sie", "n": "es"}
SUBJECT_PRONOUNS = {"ich", "er", "sie", "es", "wir", "Sie"}


class Nominal(NamedTuple):
    """Noun phrase, name or pronoun, with its agreement for verbs and relative pronouns.

    `kind` is the kind of the noun (`"person"`, `"animal"`, `"thing"`, …). `person` is the key of a
    pronoun in `PRONOUNS`. A `definite` nominal can occur in a negated clause, and a pronoun can
    refer to it.
    """

    phrase: Phrase
    agreement: int = THIRD
    gender: str = "m"
    kind: str = "person"
    name: bool = False
    person: str = ""
    definite: bool = True


def _column(gender: str, plural: bool) -> int:
    return 3 if plural else "mfn".index(gender)


def inflect(noun: Noun, case: str, plural: bool) -> str:
    """Decline a German noun. Dative plurals end with -n; weak masculines have their plural form."""
    if plural:
        add_n = case == "dat" and not noun.target_plural.endswith(("n", "s"))
        return noun.target_plural + "n" * add_n
    return noun.target_plural if noun.weak and case != "nom" else noun.target


def noun_phrase(
    noun: Noun,
    determiner: str,
    case: str,
    *,
    plural: bool = False,
    number: int | None = None,
    adjective: Adjective | None = None,
    degree: Adjective | None = None,
    negation: object = None,
) -> Phrase:
    """Return a noun with its determiner, number and adjective.

    Args:
        noun: Noun of the phrase.
        determiner: A key of `DETERMINERS`, or `""` for no determiner.
        case: `"nom"`, `"acc"` or `"dat"`.
        plural: Whether the noun is in the plural.
        number: Number before the adjective, as in `amount`. It makes the phrase plural.
        adjective: Adjective before the noun, with its German ending.
        degree: Adverb before the adjective ("very").
        negation: Key of an English "not". With "a" or no determiner, it becomes the German "kein".
    """
    plural = plural or number is not None
    english = DETERMINERS[determiner]
    german = DETERMINERS["no"] if negation else english
    column = _column(noun.gender, plural)

    key = object()
    keys = (key, negation) if negation else (key,)
    source = english.plural if plural else english.source
    target = german.target + german.endings[case][column]
    phrase = Phrase(words(source, key), words(target, *keys))
    if number is not None:
        phrase += amount(number)
    if degree:
        phrase += linked(degree.source, degree.target)
    if adjective:
        phrase += linked(adjective.source, adjective.stem + german.adjective[case][column])
    phrase += linked(noun.plural if plural else noun.source, inflect(noun, case, plural))
    return _with_an(phrase) if source == "a" else phrase


def amount(number: int) -> Phrase:
    """Return a number in words if it is below 100, or else in digits."""
    return linked(*(cardinal(number) if number < 100 else (str(number),) * 2))


def _with_an(phrase: Phrase) -> Phrase:
    """Change an "a" at the start of a phrase to "an" before a vowel."""
    article, following = phrase.source[:2]
    vowel = following.text[0] in "aeiou" and not following.text.startswith(("us", "uni"))
    article = article._replace(text="an" if vowel else "a")
    return Phrase((article, *phrase.source[1:]), phrase.target)


def pronoun(person: str, case: str) -> Phrase:
    """Return the personal pronoun with this English subject form."""
    _, *forms = PRONOUNS[person]
    return aligned(*forms[("nom", "acc", "dat").index(case)].split())


def pronoun_for(nominal: Nominal) -> Nominal:
    """Return the subject pronoun that refers to a noun phrase, name or pronoun."""
    if nominal.person in PRONOUNS:
        phrase = pronoun(nominal.person, "nom")
    elif nominal.agreement == PLURAL:
        phrase = pronoun("they", "nom")
    elif nominal.kind == "person":
        phrase = linked({"m": "he", "f": "she", "n": "it"}[nominal.gender], _IT[nominal.gender])
    else:
        phrase = linked("it", _IT[nominal.gender])
    return nominal._replace(phrase=phrase, name=False, person=nominal.person or "it")


def relative_pronoun(nominal: Nominal, case: str, source: str = "", target: str = "") -> Phrase:
    """Return the start of a relative clause: comma, preposition and pronoun.

    English has a comma only after a name. The German comma is linked to it, or to the pronoun.
    """
    if nominal.kind == "person":
        pronoun = "who" if case == "nom" else "whom"
    else:
        pronoun = "which" if source else "that"
    pronomen = _RELATIVE[case][_column(nominal.gender, nominal.agreement == PLURAL)]
    key = object()
    comma = linked(",", ",") if nominal.name else Phrase((), words(",", key))
    return comma + linked(source, target) + Phrase(words(pronoun, key), words(pronomen, key))


def prepositional(source: str, target: str, phrase: Phrase) -> Phrase:
    """Put an English and a German preposition before a phrase in the right case.

    German contracts some prepositions with the article: "in dem" becomes "im", "zu der" "zur".
    """
    head = linked(source, target)
    first, *rest = phrase.target
    contraction = _CONTRACTIONS.get((target, first.text))
    if not contraction:
        return head + phrase
    merged: Words = words(contraction, *head.target[0].keys, *first.keys)
    return Phrase(head.source + phrase.source, (*merged, *rest))


def date(day: int, month: tuple[str, ...], year: int | None = None) -> Phrase:
    """Return a date, such as "on the third of May 1987" and "am dritten Mai 1987"."""
    source, target = ordinal(day)
    phrase = linked("on the", "am") + linked(source, target + "en")
    phrase += linked("of", "") + aligned(*month)
    return phrase if year is None else phrase + linked(str(year), str(year))

"""Lexicon entries, which are words of both languages, and the format of the tables.

Tables are strings with rows separated by `;`. Irregular English forms follow a slash.

- Nouns: `english[/plural] German gender plural`. The gender `mn` marks masculine nouns that have
  their plural form in the accusative and dative too (der Junge, den Jungen). The plural `-` marks a
  mass noun. A place ends with its English and German preposition, as in "in the house".
- Adjectives: `english german[/stem before an ending]`.
- Verbs: `english[/past/participle] infinitive [present past participle] [sein]`. The German present
  and past are the forms of "er". A separable prefix ends with `|` in the infinitive; the other
  forms are without it. Weak verbs have only the infinitive. `_` joins an English particle to its
  verb. `sein` marks the auxiliary of the perfect.
"""

from __future__ import annotations

from typing import NamedTuple

Forms = tuple[str, str, str]  # forms of a verb for I, he and they


class Noun(NamedTuple):
    """Noun in both languages. `plural` and `target_plural` are empty for mass nouns."""

    kind: str
    source: str
    plural: str
    target: str
    gender: str
    target_plural: str
    weak: bool = False
    prepositions: tuple[str, str] = ("", "")


class Adjective(NamedTuple):
    """Adjective in both languages. German endings are appended to `stem`."""

    source: str
    target: str
    stem: str


class Verb(NamedTuple):
    """Verb in both languages. The German prefix is a separable prefix."""

    base: str
    present: Forms
    past: Forms
    participle: str
    particle: str
    infinitive: str
    target_present: Forms
    target_past: Forms
    target_participle: str
    prefix: str = ""
    perfect_with_sein: bool = False
    auxiliary: bool = False


class Modal(NamedTuple):
    """Modal verb: the English and the German finite verb before an infinitive."""

    source: Verb
    tense: str
    target: Forms


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word[-1] == "y" and word[-2] not in "aeou" else word + "s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if word[-1] == "y" and word[-2] not in "aeou" else word + "ed"


def _weak_forms(infinitive: str) -> list[str]:
    """Return the forms of a German weak verb: present and past of "er", and participle."""
    stem = infinitive.removesuffix("en")
    link = "e" if stem[-1] in "td" or stem.endswith(("fn", "chn")) else ""
    no_ge = infinitive.startswith(("be", "emp", "ent", "er", "ge", "ver", "zer"))
    no_ge = no_ge or infinitive.endswith("ieren")
    return [f"{stem}{link}t", f"{stem}{link}te", f"{'' if no_ge else 'ge'}{stem}{link}t"]


def verb(entry: str) -> Verb:
    """Read one entry of a verb table."""
    english, german, *forms = entry.split()
    sein = forms[-1:] == ["sein"]
    forms = forms[: len(forms) - sein]
    (base, particle), *irregular = ((*form.split("_"), "")[:2] for form in english.split("/"))
    past, participle = [form for form, _ in irregular] or [_with_ed(base)] * 2
    prefix, _, infinitive = german.rpartition("|")
    present, preterite, target_participle = forms or _weak_forms(infinitive)
    return Verb(
        base,
        (base, _with_s(base) if base != "go" else "goes", base),
        (past, past, past),
        participle,
        particle,
        infinitive,
        ("weiß" if infinitive == "wissen" else infinitive[:-1], present, infinitive),
        (preterite, preterite, preterite + ("n" if preterite.endswith("e") else "en")),
        target_participle,
        prefix,
        sein,
    )


def verbs(table: str) -> list[Verb]:
    """Read a table of verbs."""
    return [verb(entry) for entry in table.split(";")]


def adjectives(table: str) -> list[Adjective]:
    """Read a table of adjectives."""
    rows = (entry.replace("/", " ").split() for entry in table.split(";"))
    return [Adjective(row[0], row[1], row[-1]) for row in rows]


def noun(entry: str, kind: str) -> Noun:
    """Read one entry of a noun table."""
    english, german, gender, german_plural, *prepositions = entry.split()
    before, german_before = prepositions or ("", "")
    singular, _, plural = english.partition("/")
    mass = german_plural == "-"
    return Noun(
        kind,
        singular,
        "" if mass else plural or _with_s(singular),
        german,
        gender[0],
        "" if mass else german_plural,
        gender == "mn",
        (before, german_before),
    )


def nouns(table: str, kind: str) -> list[Noun]:
    """Read a table of nouns."""
    return [noun(entry, kind) for entry in table.split(";")]


def phrases(table: str) -> list[tuple[str, ...]]:
    """Read a table of fixed phrases, with columns separated by `|`."""
    return [tuple(entry.strip().split("|")) for entry in table.split(";")]


def modal(source: str, target: str) -> Modal:
    """Return a modal from an English auxiliary and the German forms for ich, er and sie (they)."""
    form = (source,) * 3
    auxiliary = Verb(source, form, form, "", "", "", form, form, "", auxiliary=True)
    first, third, plural = target.split()
    return Modal(auxiliary, "present", (first, third, plural))

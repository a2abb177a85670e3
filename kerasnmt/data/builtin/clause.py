"""Verb groups and clauses, with their constituents in English and in German order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kerasnmt.data.builtin.entries import Forms, Verb
from kerasnmt.data.builtin.lexicon import BE, DO, HAVE, MODALS, WERDEN
from kerasnmt.data.builtin.nominals import SUBJECT_PRONOUNS, THIRD
from kerasnmt.data.builtin.phrase import NOTHING, Phrase, Words, words

_HAVE = HAVE._replace(auxiliary=True)
_HABEN = (HAVE.target_present, HAVE.target_past)
_SEIN = (BE.target_present, BE.target_past)


class VerbGroup(NamedTuple):
    """Verbs of a clause.

    English has an `auxiliary`, which stands before the subject of a question and before "not", and
    the `rest`. German has the `finite` verb, the `final` verbs at the end of a main clause, and the
    `last` verbs, the whole group at the end of a subordinate clause.
    """

    auxiliary: Words
    rest: Words
    finite: Words
    final: Words
    last: Words


def _forms(table: tuple[Forms, Forms], tense: str) -> Forms:
    """Return the forms of the `"present"` or the `"past"` tense."""
    return table[("present", "past").index(tense)]


def _finite(
    verb: Verb, tense: str, agreement: int, support: bool, key: object
) -> tuple[Words, Words]:
    """Return the English auxiliary and the rest of a finite verb. `support` adds "do"."""
    form = words(_forms((verb.present, verb.past), tense)[agreement], key)
    if verb.auxiliary:
        return form, ()
    if support:
        return words(_forms(DO, tense)[agreement], object()), words(verb.base, key)
    return (), form


def verb_group(
    verb: Verb,
    agreement: int,
    tense: str,
    *,
    passive: bool,
    support: bool,
    negated: bool,
) -> VerbGroup:
    """Conjugate a verb.

    Args:
        verb: Verb to conjugate.
        agreement: `FIRST`, `THIRD` or `PLURAL`.
        tense: `"present"`, `"past"`, `"perfect"`, `"pluperfect"` or a key of `MODALS`.
        passive: Whether the verb is in the passive (werden).
        support: Whether English needs "do" if there is no auxiliary (questions, negation).
        negated: Whether "not" follows: "must not" is "darf nicht".
    """
    key, finite_key, passive_key = object(), object(), object()
    particle_key = object() if verb.particle else key
    whole = (key, particle_key)
    particle = words(verb.particle, particle_key)
    participle = words(verb.participle, key) + particle
    target_participle = words(verb.prefix + verb.target_participle, *whole)

    # In the other cases, there is a finite auxiliary with an infinitive or a participle.
    time = "past" if tense in ("past", "pluperfect") else "present"
    to: Words = ()
    if tense in MODALS:
        head, time, forms = MODALS[tense]
        if tense == "must" and negated:
            forms = MODALS["may"].target
        to = () if head.auxiliary else words("to", object())
        governed = words(verb.base, key) + particle
        target_governed = words(verb.prefix + verb.infinitive, *whole)
        be, werden = "be", "werden"
    elif "perfect" in tense:
        head = _HAVE
        forms = _forms(_SEIN if passive or verb.perfect_with_sein else _HABEN, time)
        governed, target_governed = participle, target_participle
        be, werden = "been", "worden"
    elif passive:
        head, forms = BE, _forms(WERDEN, time)
        be, werden = "", ""
    else:
        auxiliary, rest = _finite(verb, time, agreement, support, key)
        form = _forms((verb.target_present, verb.target_past), time)[agreement]
        finite = words(form, *((key,) if verb.prefix else whole))
        prefix, last = words(verb.prefix, particle_key), words(verb.prefix + form, *whole)
        return VerbGroup(auxiliary, rest + particle, finite, prefix, last)
    if passive:
        governed = words(be, passive_key) + participle
        target_governed = target_participle + words(werden, passive_key)
    auxiliary, rest = _finite(head, time, agreement, support, finite_key)
    finite = words(forms[agreement], finite_key)
    rest += to + governed
    return VerbGroup(auxiliary, rest, finite, target_governed, target_governed + finite)


@dataclass(slots=True)
class Clause:
    """Constituents of a clause, with four ways to order them.

    Attributes:
        subject: Subject, in the nominative.
        agreement: Agreement of the verb: `FIRST`, `THIRD` or `PLURAL`.
        tense: See `verb_group`.
        verb: Main verb.
        passive: Whether the verb is in the passive.
        front: First constituent: an adverbial, a conjunction, a question word or another clause.
        negation: "not" and "nicht", or "not" alone if German uses "kein".
        adverb: Adverb before the English verb ("often").
        pronouns: Object pronouns.
        objects: Noun objects.
        complements: Constituents after the German "nicht": manner, place, prepositional objects and
            predicates.
        time: Adverbial at the end in English, and before the objects in German.
        clauses: Relative and other clauses at the end in both languages.
    """

    subject: Phrase
    agreement: int = THIRD
    tense: str = "present"
    verb: Verb = BE
    passive: bool = False
    front: Phrase = NOTHING
    negation: Phrase = NOTHING
    adverb: Phrase = NOTHING
    pronouns: Phrase = NOTHING
    objects: Phrase = NOTHING
    complements: Phrase = NOTHING
    time: Phrase = NOTHING
    clauses: Phrase = NOTHING

    def statement(self) -> Phrase:
        """Return a main clause, where the German finite verb is second."""
        group = self._group()
        if self.front:
            target = (self.front.target, group.finite, self._after_verb())
        else:
            target = (self.subject.target, group.finite, self._middle())
        return self._phrase(group, False, *target, group.final)

    def question(self) -> Phrase:
        """Return a question, but not about the subject. `front` is the question word."""
        group = self._group(question=True)
        target = (self.front.target, group.finite, self._after_verb(), group.final)
        return self._phrase(group, True, *target)

    def subordinate(self) -> Phrase:
        """Return a clause with a conjunction or relative pronoun. All German verbs are last."""
        group = self._group()
        target = (self.front.target, self.subject.target, self._middle(), group.last)
        return self._phrase(group, False, *target)

    def infinitive(self, purpose: bool = False) -> Phrase:
        """Return an infinitive with "to" and "zu", or with "in order to" and "um … zu"."""
        to, order = object(), object()
        key, particle = object(), object()
        whole = (key, particle if self.verb.particle else key)
        opening = words(", um", order) if purpose else words(",", to)
        if self.verb.prefix:
            verbs = words(f"{self.verb.prefix}zu{self.verb.infinitive}", *whole, to)
        else:
            verbs = words("zu", to) + words(self.verb.infinitive, *whole)
        source = words("in order" if purpose else "", order) + words("to", to)
        source += words(self.verb.base, key) + words(self.verb.particle, particle)
        return Phrase(
            source + self._source_tail(), opening + self._middle() + verbs + self.clauses.target
        )

    def _group(self, question: bool = False) -> VerbGroup:
        negated = bool(self.negation)
        return verb_group(
            self.verb,
            self.agreement,
            self.tense,
            passive=self.passive,
            support=question or negated,
            negated=negated,
        )

    def _after_verb(self) -> Words:
        """Return the German subject and middle after a finite verb. Pronouns precede a noun."""
        subject, pronouns = self.subject.target, self.pronouns.target
        if subject and subject[0].text in SUBJECT_PRONOUNS:
            return subject + self._middle()
        return pronouns + subject + self._middle()[len(pronouns) :]

    def _middle(self) -> Words:
        """Return the constituents between the German subject or finite verb and the final verbs."""
        parts = (self.pronouns, self.time, self.adverb, self.objects, self.negation)
        return sum((part.target for part in (*parts, self.complements)), ())

    def _source_tail(self) -> Words:
        parts = (self.pronouns, self.objects, self.complements, self.time, self.clauses)
        return sum((part.source for part in parts), ())

    def _phrase(self, group: VerbGroup, inverted: bool, *target: Words) -> Phrase:
        inner = (self.subject.source, group.auxiliary)
        source = sum(reversed(inner) if inverted else inner, self.front.source)
        source += self.negation.source + self.adverb.source + group.rest + self._source_tail()
        return Phrase(source, sum(target, ()) + self.clauses.target)

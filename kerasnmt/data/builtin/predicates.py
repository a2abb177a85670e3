"""Random predicates: verbs with objects and complements, by what the subject is."""

from __future__ import annotations

from dataclasses import replace

from kerasnmt.data.builtin import lexicon
from kerasnmt.data.builtin.clause import Clause
from kerasnmt.data.builtin.constituents import Constituents
from kerasnmt.data.builtin.lexicon import ADJECTIVES, BE, HAVE, NOUNS, VERBS
from kerasnmt.data.builtin.nominals import (
    PLURAL,
    PRONOUNS,
    Nominal,
    noun_phrase,
    prepositional,
    relative_pronoun,
)
from kerasnmt.data.builtin.numerals import cardinal
from kerasnmt.data.builtin.phrase import NOTHING, Phrase, aligned, linked, words

# What is put into the object of the verbs of a group.
_OBJECTS = {
    "living": ("person", "person", "animal"),
    "person": ("person",),
    "thing": ("thing", "device", "container", "text"),
    "device": ("device",),
    "container": ("container",),
    "text": ("text",),
    "food": ("food",),
    "drink": ("drink",),
    "place": ("place",),
}
_TRANSITIVE = {
    **{"living": 4, "person": 5, "thing": 5, "device": 1.5, "container": 1.5, "text": 2.5},
    **{"food": 2.5, "drink": 1.5, "place": 1.5},
}
_DELIBERATE = ("device", "container", "text", "food")  # may be done "carefully"
_TENSES = {
    "present": {
        **{"present": 7, "perfect": 4, "can": 1.2, "must": 1.4, "may": 0.8, "should": 1.2},
        **{"will": 1.6, "wants": 1.4},
    },
    "past": {"past": 7, "could": 1, "wanted": 1, "had": 1},
}


def frame_of(tense: str) -> str:
    """The time frame, `"present"` or `"past"`, that a tense belongs to."""
    return "past" if tense in _TENSES["past"] or tense == "pluperfect" else "present"


class Predicates(Constituents):
    """Completes clauses: each method takes a draft with a subject and fills in verb and rest."""

    def _tense(self, frame: str, subject: Nominal) -> str:
        if subject.kind in ("person", "couple", "animal"):
            return self._weighted(_TENSES[frame])
        return frame if frame == "past" or self._chance(0.7) else "perfect"

    def _complete(self, draft: Clause, subject: Nominal) -> Clause:
        """Fills in a predicate that suits the subject."""
        if subject.kind in ("person", "couple"):
            return self._act(draft, subject)
        kinds = {self._quality: 3, self._standing: 1.2, self._passive: 4, self._owned: 1}
        if subject.kind == "animal":
            kinds = {self._animate: 3, self._quality: 3, self._animal_deed: 3}
        elif subject.kind == "place":
            kinds = {self._quality: 2, self._passive: 1}
        elif draft.tense == "present" and not draft.negation:
            kinds[self._price] = 2
        return self._weighted(kinds)(draft, subject)

    def _act(self, draft: Clause, subject: Nominal) -> Clause:
        """A predicate of persons."""
        kinds = {
            self._transitive: 26,
            self._intransitive: 8,
            self._dative: 6,
            self._giving: 8,
            self._prepositional: 8,
            self._moving: 8,
            self._located: 6,
            self._placing: 4,
            self._quality: 8,
            self._having: 4,
            self._comparison: 3,
        }
        if subject.kind == "person" and subject.agreement != PLURAL and draft.subject:
            kinds[self._age] = 3
            kinds[self._profession] = 0 if subject.person == "I" else 4
        return self._weighted(kinds)(draft, subject)

    # --- Verbs and their objects -----------------------------------------------------------------

    def _transitive(self, draft: Clause, subject: Nominal) -> Clause:
        group = self._weighted(_TRANSITIVE)
        verb, kinds = self._pick(VERBS[group]), _OBJECTS[group]
        if "person" in kinds and self._chance(0.2):
            clause = replace(draft, verb=verb, pronouns=self._object_pronoun(subject, "acc"))
            return replace(clause, complements=self._maybe(0.3, self._place))
        clause = self._with_object(replace(draft, verb=verb), kinds, subject)
        if clause.clauses or group == "place":
            return clause
        manner = NOTHING
        if group in _DELIBERATE and not draft.negation:
            manner = self._maybe(0.25, self._entry, lexicon.MANNERS)
        place = self._maybe(0.25, self._place)
        return replace(clause, complements=manner + place)

    def _with_object(self, clause: Clause, kinds: tuple[str, ...], subject: Nominal) -> Clause:
        """Adds an accusative object; with "not", either a definite one or one with "kein"."""
        if clause.negation and self._chance(0.5):
            key = object()
            noun = self._nominal(self._pick(NOUNS[self._pick(kinds)]), "acc", negation=key)
            return replace(clause, objects=noun.phrase, negation=Phrase(words("not", key)))
        noun = self._object(kinds, "acc", definite=bool(clause.negation))
        relative = self._maybe(0.12, self._relative, noun, frame_of(clause.tense))
        return replace(clause, objects=noun.phrase, clauses=relative)

    def _object_pronoun(self, subject: Nominal, case: str) -> Phrase:
        """A pronoun for another person than the subject."""
        own = {"I": ("I", "we"), "we": ("I", "we"), "you": ("you",)}.get(subject.person, ())
        return self._pronoun(self._pick([p for p in PRONOUNS if p not in own]), case).phrase

    def _dative(self, draft: Clause, subject: Nominal) -> Clause:
        clause = replace(draft, verb=self._pick(VERBS["dative"]))
        if self._chance(0.25):
            clause = replace(clause, pronouns=self._object_pronoun(subject, "dat"))
        else:
            noun = self._object(("person",), "dat", definite=bool(draft.negation))
            clause = replace(clause, objects=noun.phrase)
        return replace(clause, complements=self._maybe(0.2, self._place))

    def _giving(self, draft: Clause, subject: Nominal) -> Clause:
        clause = replace(draft, verb=self._pick(VERBS["giving"]))
        receiver = NOTHING
        if self._chance(0.3):
            clause = replace(clause, pronouns=self._object_pronoun(subject, "dat"))
        else:
            receiver = self._object(("person",), "dat", definite=True).phrase
        clause = self._with_object(clause, _OBJECTS["thing"], subject)
        return replace(clause, objects=receiver + clause.objects)

    def _prepositional(self, draft: Clause, subject: Nominal) -> Clause:
        (source, target, case), verbs = self._pick(tuple(lexicon.PREPOSITIONAL_VERBS.items()))
        if self._chance(0.15):
            phrase = self._object_pronoun(subject, case)
        else:
            kinds = ("person", "person", "animal")
            phrase = self._object(kinds, case, definite=bool(draft.negation)).phrase
        phrase = prepositional((source, target), phrase)
        return replace(draft, verb=self._pick(verbs), complements=phrase)

    def _having(self, draft: Clause, subject: Nominal) -> Clause:
        kinds = (*_OBJECTS["thing"], "animal")
        return self._with_object(replace(draft, verb=HAVE), kinds, subject)

    def _intransitive(self, draft: Clause, subject: Nominal) -> Clause:
        verb = self._pick(VERBS["intransitive"] + VERBS["animate"])
        return replace(
            draft, verb=verb, complements=self._company() + self._maybe(0.4, self._place)
        )

    def _company(self) -> Phrase:
        if self._chance(0.75):
            return NOTHING
        return prepositional(
            ("with", "mit"), self._object(("person",), "dat", definite=True).phrase
        )

    def _moving(self, draft: Clause, subject: Nominal) -> Clause:
        verb = self._pick(VERBS["motion"])
        return replace(draft, verb=verb, complements=self._company() + self._direction())

    def _located(self, draft: Clause, subject: Nominal) -> Clause:
        complements = self._company() + self._place()
        return replace(draft, verb=self._pick(VERBS["located"]), complements=complements)

    def _placing(self, draft: Clause, subject: Nominal) -> Clause:
        noun = self._pick(
            [noun for noun in NOUNS["thing"] if noun not in lexicon.GROUPS["furniture"]]
        )
        thing = self._nominal(noun, "acc", determiners={"the": 3, "own": 1})
        verb = self._pick(VERBS["placing"])
        return replace(draft, verb=verb, objects=thing.phrase, complements=self._position("acc"))

    # --- To be -----------------------------------------------------------------------------------

    def _being(self, draft: Clause, complements: Phrase, *tenses: str) -> Clause:
        """What is to be said of the subject; other tenses than those given become simple ones."""
        plain = draft.tense in ("present", "past", "will", *tenses)
        tense = draft.tense if plain else frame_of(draft.tense)
        return replace(draft, verb=BE, tense=tense, complements=complements)

    def _quality(self, draft: Clause, subject: Nominal) -> Clause:
        kind = "person" if subject.kind == "couple" else subject.kind
        adjective = self._pick(ADJECTIVES[kind])
        degree = NOTHING
        if self._chance(0.4):
            degree = linked(*self._pick(lexicon.DEGREES)[:2])
        phrase = degree + linked(adjective.source, adjective.target)
        return self._being(draft, phrase, "perfect", "pluperfect", "should", "can", "could")

    def _comparison(self, draft: Clause, subject: Nominal) -> Clause:
        adjective = self._pick(lexicon.COMPARATIVES)
        other = self._object(("person",), "nom", definite=True)
        phrase = linked(adjective.source, adjective.target) + linked("than", "als") + other.phrase
        return self._being(draft, phrase)

    def _profession(self, draft: Clause, subject: Nominal) -> Clause:
        gender = {"he": "m", "she": "f"}.get(subject.person, subject.gender)
        nouns = [noun for noun in lexicon.GROUPS["profession"] if noun.gender == gender]
        if not nouns:
            return self._quality(draft, subject)
        key = object() if draft.negation else None
        phrase = noun_phrase(
            self._pick(nouns),
            "a",
            "nom",
            adjective=self._pick(ADJECTIVES["person"]),
            negation=key,
        )
        negation = Phrase(words("not", key)) if key else NOTHING
        return replace(self._being(draft, phrase), negation=negation)

    def _age(self, draft: Clause, subject: Nominal) -> Clause:
        phrase = linked(*cardinal(self._between(2, 99))) + aligned("years old", "Jahre alt")
        return self._being(draft, phrase)

    # --- Animals and things ----------------------------------------------------------------------

    def _animate(self, draft: Clause, subject: Nominal) -> Clause:
        verb = self._pick(VERBS["animate"])
        return replace(draft, verb=verb, complements=self._maybe(0.6, self._place))

    def _animal_deed(self, draft: Clause, subject: Nominal) -> Clause:
        seeing = [verb for verb in VERBS["living"] if verb.base not in ("photograph", "paint")]
        clause = replace(draft, verb=self._pick(seeing))
        return self._with_object(clause, _OBJECTS["living"], subject)

    def _passive(self, draft: Clause, subject: Nominal) -> Clause:
        group = {"thing": "thing", "text": "text", "place": "place"}.get(subject.kind, subject.kind)
        verb = self._pick([verb for verb in VERBS[group] if verb.base not in ("need", "look")])
        agent = NOTHING
        if self._chance(0.6):
            noun = self._object(("person",), "dat", definite=bool(draft.negation))
            agent = prepositional(("by", "von"), noun.phrase)
        tense = draft.tense
        if tense == "present" and self._chance(0.4):
            tense = self._pick(("must", "can", "should", "will"))
        place = self._maybe(0.2, self._place) if subject.kind != "place" else NOTHING
        return replace(draft, verb=verb, passive=True, tense=tense, complements=agent + place)

    def _standing(self, draft: Clause, subject: Nominal) -> Clause:
        stand = next(verb for verb in VERBS["located"] if verb.base == "stand")
        return replace(draft, verb=stand, complements=self._position("dat"))

    def _owned(self, draft: Clause, subject: Nominal) -> Clause:
        owner = self._object(("person",), "dat", definite=True)
        return replace(draft, verb=lexicon.BELONG, objects=linked("to", "") + owner.phrase)

    def _price(self, draft: Clause, subject: Nominal) -> Clause:
        number = self._between(2, 999)
        amount = cardinal(number) if number < 100 else (str(number),) * 2
        return replace(draft, verb=lexicon.COST, objects=linked(*amount) + linked("euros", "Euro"))

    # --- Relative clauses ------------------------------------------------------------------------

    def _relative(self, head: Nominal, frame: str) -> Phrase:
        """A relative clause about a noun phrase or name, with the comma that closes it."""
        closing = linked("," if head.name else "", ",")
        if head.kind == "animal" or (head.kind == "person" and self._chance(0.5)):
            draft = Clause(BE, NOTHING, head.agreement, frame)
            make = self._quality if self._chance(0.4) else self._intransitive
            make = self._animate if head.kind == "animal" else make
            clause = make(draft, head)
            return replace(clause, subject=relative_pronoun(head, "nom")).subordinate() + closing
        subject = self._subject(("person",), pronoun=0.4)
        draft = Clause(BE, subject.phrase, subject.agreement, self._weighted(_TENSES[frame]))
        if head.kind == "place":
            verb, front = self._pick(VERBS["located"]), relative_pronoun(head, "dat", ("in", "in"))
        elif head.kind == "person" and self._chance(0.3):
            choices = tuple(lexicon.PREPOSITIONAL_VERBS.items())
            (*preposition, case), verbs = self._pick(choices)
            verb, front = self._pick(verbs), relative_pronoun(head, case, tuple(preposition))
        else:
            verb = self._pick(VERBS["person" if head.kind == "person" else "thing"])
            front = relative_pronoun(head, "acc")
        return replace(draft, verb=verb, front=front).subordinate() + closing

"""Random predicates, which are verbs with objects and complements that suit the subject."""

from __future__ import annotations

from kerasnmt.data.builtin import lexicon
from kerasnmt.data.builtin.clause import Clause
from kerasnmt.data.builtin.constituents import DEFINITE, Constituents
from kerasnmt.data.builtin.lexicon import ADJECTIVES, BE, HAVE, MODALS, NOUNS, VERBS
from kerasnmt.data.builtin.nominals import (
    PLURAL,
    PRONOUNS,
    Nominal,
    amount,
    noun_phrase,
    prepositional,
    relative_pronoun,
)
from kerasnmt.data.builtin.numerals import cardinal
from kerasnmt.data.builtin.phrase import NOTHING, Phrase, aligned, linked, words

# Groups of transitive verbs: their frequencies, and the kinds of their objects.
_TRANSITIVE: dict[str, float] = {"living": 4, "person": 5, "thing": 6, "container": 2}
_TRANSITIVE |= {"text": 2, "food": 2, "drink": 1.5, "place": 1}
_THINGS = ("thing", "furniture", "container", "text")
_OBJECTS = {"living": ("person", "animal"), "thing": _THINGS}
_TENSES: dict[str, dict[str, float]] = {
    "present": {"present": 8, "perfect": 4, "can": 1, "must": 1, "may": 1, "should": 1}
    | {"will": 1.5, "wants": 1.5},
    "past": {"past": 7, "could": 1, "wanted": 1, "had": 1},
}


def frame_of(tense: str) -> str:
    """Return the time frame of a tense, `"present"` or `"past"`."""
    return "past" if tense in _TENSES["past"] or tense == "pluperfect" else "present"


class Predicates(Constituents):
    """Random predicates that complete clauses.

    Each method gets a clause with a subject, a tense and an optional negation, and adds a verb with
    its objects and complements.
    """

    def _tense(self, frame: str, subject: Nominal) -> str:
        if subject.kind in ("person", "couple", "animal"):
            return self._weighted(_TENSES[frame])
        return frame if frame == "past" or self._chance(0.7) else "perfect"

    def _complete(self, clause: Clause, subject: Nominal) -> None:
        """Add a predicate that suits the subject."""
        if subject.kind in ("person", "couple"):
            return self._act(clause, subject)
        if subject.kind == "animal":
            kinds = {self._animate: 2, self._quality: 2, self._animal_deed: 3}
        elif subject.kind == "place":
            kinds = {self._quality: 2, self._passive: 1}
        else:
            kinds = {self._quality: 3, self._standing: 2, self._passive: 4, self._owned: 1}
            if clause.tense == "present" and not clause.negation:
                kinds[self._price] = 2
        return self._weighted(kinds)(clause, subject)

    def _act(self, clause: Clause, subject: Nominal) -> None:
        """Add a predicate of persons."""
        kinds = {
            self._transitive: 26,
            self._intransitive: 8,
            self._dative: 6,
            self._giving: 7,
            self._prepositional: 8,
            self._moving: 8,
            self._located: 6,
            self._placing: 4,
            self._quality: 8,
            self._having: 4,
            self._comparison: 2,
        }
        if subject.kind == "person" and subject.agreement != PLURAL and clause.subject:
            kinds |= {self._age: 3, self._profession: 3 * (subject.person != "I")}
        self._weighted(kinds)(clause, subject)

    # --- Verbs and their objects -----------------------------------------------------------------

    def _transitive(self, clause: Clause, subject: Nominal) -> None:
        group = self._weighted(_TRANSITIVE)
        clause.verb = self._pick(VERBS[group])
        if group in ("living", "person") and self._chance(0.2):
            clause.pronouns = self._object_pronoun(subject, "acc")
        else:
            self._add_object(clause, _OBJECTS.get(group, (group,)))
        if group == "place" or clause.clauses:
            return
        if group in ("container", "text", "food") and not clause.negation:
            clause.complements = self._maybe(0.25, self._entry, lexicon.MANNERS)
        clause.complements += self._maybe(0.25, self._place)

    def _add_object(self, clause: Clause, kinds: tuple[str, ...]) -> None:
        """Add an accusative object. With "not", it is definite or has "kein" in German."""
        if clause.negation and self._chance(0.5):
            key = object()
            noun = self._pick(NOUNS[self._pick(kinds)])
            clause.objects += self._nominal(noun, "acc", negation=key).phrase
            clause.negation = Phrase(words("not", key))
            return
        nominal = self._object(kinds, "acc", definite=bool(clause.negation))
        clause.objects += nominal.phrase
        clause.clauses = self._maybe(0.12, self._relative, nominal, frame_of(clause.tense))

    def _object_pronoun(self, subject: Nominal, case: str) -> Phrase:
        """Draw a pronoun for a person who is not the subject."""
        own = {"I": ("I", "we"), "we": ("I", "we"), "you": ("you",)}.get(subject.person, ())
        return self._pronoun(self._pick([p for p in PRONOUNS if p not in own]), case).phrase

    def _dative(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["dative"])
        if self._chance(0.25):
            clause.pronouns = self._object_pronoun(subject, "dat")
        else:
            definite = bool(clause.negation)
            clause.objects = self._object(("person",), "dat", definite=definite).phrase
        clause.complements = self._maybe(0.2, self._place)

    def _giving(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["giving"])
        if self._chance(0.3):
            clause.pronouns = self._object_pronoun(subject, "dat")
        else:
            clause.objects = self._object(("person",), "dat", definite=True).phrase
        self._add_object(clause, _THINGS)

    def _prepositional(self, clause: Clause, subject: Nominal) -> None:
        clause.verb, source, target, case = self._pick(lexicon.PREPOSITIONAL_VERBS)
        if self._chance(0.15):
            phrase = self._object_pronoun(subject, case)
        else:
            kinds = ("person", "person", "animal")
            phrase = self._object(kinds, case, definite=bool(clause.negation)).phrase
        clause.complements = prepositional(source, target, phrase)

    def _having(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = HAVE
        self._add_object(clause, (*_THINGS, "animal"))

    def _intransitive(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["intransitive"] + VERBS["animate"])
        clause.complements = self._company() + self._maybe(0.4, self._place)

    def _moving(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["motion"])
        clause.complements = self._company() + self._direction()

    def _located(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["located"])
        clause.complements = self._company() + self._place()

    def _company(self) -> Phrase:
        """Draw a companion with probability 1/4."""
        if self._chance(0.75):
            return NOTHING
        return prepositional("with", "mit", self._object(("person",), "dat", definite=True).phrase)

    def _placing(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["placing"])
        clause.objects = self._nominal(self._pick(NOUNS["thing"]), "acc", DEFINITE).phrase
        clause.complements = self._position("acc")

    # --- To be -----------------------------------------------------------------------------------

    def _be(self, clause: Clause, complements: Phrase, modals: str = "will") -> None:
        """Add "to be" and a predicate. A modal that is not in `modals` becomes a simple tense."""
        clause.verb, clause.complements = BE, complements
        if clause.tense in MODALS and clause.tense not in modals.split():
            clause.tense = frame_of(clause.tense)

    def _quality(self, clause: Clause, subject: Nominal) -> None:
        adjective = self._pick(ADJECTIVES["person" if subject.kind == "couple" else subject.kind])
        degree = self._pick(lexicon.DEGREES)
        phrase = linked(*degree[:2]) if self._chance(0.4) else NOTHING
        phrase += linked(adjective.source, adjective.target)
        self._be(clause, phrase, "will should can could")

    def _comparison(self, clause: Clause, subject: Nominal) -> None:
        adjective = self._pick(lexicon.COMPARATIVES)
        other = self._object(("person",), "nom", definite=True).phrase
        phrase = linked(adjective.source, adjective.target) + linked("than", "als") + other
        self._be(clause, phrase)

    def _profession(self, clause: Clause, subject: Nominal) -> None:
        gender = {"he": "m", "she": "f"}.get(subject.person, subject.gender)
        nouns = [noun for noun in lexicon.PROFESSIONS if noun.gender == gender]
        if not nouns:
            return self._quality(clause, subject)
        key = object() if clause.negation else None
        adjective = self._pick(ADJECTIVES["person"])
        phrase = noun_phrase(self._pick(nouns), "a", "nom", adjective=adjective, negation=key)
        if key:
            clause.negation = Phrase(words("not", key))
        return self._be(clause, phrase)

    def _age(self, clause: Clause, subject: Nominal) -> None:
        years = linked(*cardinal(self._between(2, 99)))
        self._be(clause, years + aligned("years old", "Jahre alt"))

    # --- Animals and things ----------------------------------------------------------------------

    def _animate(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["animate"])
        clause.complements = self._maybe(0.6, self._place)

    def _animal_deed(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["living"])
        self._add_object(clause, _OBJECTS["living"])

    def _passive(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = self._pick(VERBS["thing" if subject.kind == "furniture" else subject.kind])
        clause.passive = True
        if clause.tense == "present" and self._chance(0.4):
            clause.tense = self._pick(("must", "can", "should", "will"))
        if self._chance(0.6):
            agent = self._object(("person",), "dat", definite=bool(clause.negation))
            clause.complements = prepositional("by", "von", agent.phrase)
        if subject.kind != "place":
            clause.complements += self._maybe(0.2, self._place)

    def _standing(self, clause: Clause, subject: Nominal) -> None:
        clause.verb, clause.complements = lexicon.STAND, self._position("dat")

    def _owned(self, clause: Clause, subject: Nominal) -> None:
        owner = self._object(("person",), "dat", definite=True)
        clause.verb, clause.objects = lexicon.BELONG, linked("to", "") + owner.phrase

    def _price(self, clause: Clause, subject: Nominal) -> None:
        clause.verb = lexicon.COST
        clause.objects = amount(self._number()) + linked("euros", "Euro")

    # --- Relative clauses ------------------------------------------------------------------------

    def _relative(self, head: Nominal, frame: str) -> Phrase:
        """Draw a relative clause about a noun phrase or name, with its closing comma."""
        closing = linked("," if head.name else "", ",")
        if head.kind == "animal" or (head.kind == "person" and self._chance(0.5)):
            clause = Clause(relative_pronoun(head, "nom"), head.agreement, frame)
            verbs = self._animate if head.kind == "animal" else self._intransitive
            make = self._quality if self._chance(0.4) else verbs
            make(clause, head)
            return clause.subordinate() + closing
        subject = self._subject(("person",), pronoun=0.4)
        clause = Clause(subject.phrase, subject.agreement, self._tense(frame, subject))
        if head.kind == "place":
            clause.verb = self._pick(VERBS["located"])
            clause.front = relative_pronoun(head, "dat", "in", "in")
        elif head.kind == "person" and self._chance(0.3):
            clause.verb, source, target, case = self._pick(lexicon.PREPOSITIONAL_VERBS)
            clause.front = relative_pronoun(head, case, source, target)
        else:
            clause.verb = self._pick(VERBS["person" if head.kind == "person" else "thing"])
            clause.front = relative_pronoun(head, "acc")
        return clause.subordinate() + closing

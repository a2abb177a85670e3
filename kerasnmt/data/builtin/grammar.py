"""Random sentences: how clauses are joined, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kerasnmt.data.builtin import lexicon
from kerasnmt.data.builtin.clause import Clause
from kerasnmt.data.builtin.lexicon import BE, VERBS
from kerasnmt.data.builtin.nominals import Nominal, pronoun_for
from kerasnmt.data.builtin.phrase import NOTHING, Phrase, Words, aligned, linked, words
from kerasnmt.data.builtin.predicates import Predicates

MAX_LENGTH = 32  # words and punctuation marks, on either side


class Sentence(NamedTuple):
    """A sentence of both languages and the names in it, in the order of the English words."""

    phrase: Phrase
    names: tuple[str, ...]


def _tidy(sentence: Words) -> Words:
    """Leaves out commas before another punctuation mark."""
    following = (*(word.text for word in sentence[1:]), "")
    return tuple(
        word
        for word, after in zip(sentence, following, strict=True)
        if not (word.text == "," and after in (",", ".", "?"))
    )


def _after_comma(clause: Phrase) -> Phrase:
    """Puts the comma before a German subordinate clause, linked to the English conjunction."""
    return Phrase(clause.source, words(",", *clause.source[0].keys) + clause.target)


class Grammar(Predicates):
    """Makes random sentences; see `Constituents` for the arguments."""

    def sentence(self) -> Sentence:
        """Makes one sentence of at most `MAX_LENGTH` words on either side."""
        kinds = {
            self._simple: 8,
            self._subordinate_last: 6,
            self._subordinate_first: 4,
            self._reported: 4,
            self._infinitive: 4,
            self._coordinated: 4,
            self._question: 3,
            self._content_question: 3,
        }
        while True:
            self._names = set()
            phrase = self._weighted(kinds)()
            phrase = Phrase(_tidy(phrase.source), _tidy(phrase.target))
            if max(len(phrase.source), len(phrase.target)) <= MAX_LENGTH:
                names = tuple(word.text for word in phrase.source if word.text in self._names)
                return Sentence(phrase, names)

    def _clause(
        self,
        frame: str,
        subject: Nominal | None = None,
        tense: str | None = None,
        *,
        front: float = 0,
        time: float = 0.5,
        adverb: float = 0.2,
        negation: float = 0.18,
    ) -> Clause:
        """A clause; the numbers are the probabilities of its optional constituents.

        Args:
            frame: `"present"` or `"past"`: which tenses fit.
            subject: the subject; drawn if not given.
            tense: the tense; drawn if not given.
            front: of the adverbial of time, if there is one, standing first.
            time: of an adverbial of time.
            adverb: of an adverb before the English verb.
            negation: of "not".
        """
        if subject is None:
            subject = self._subject()
            if not subject.person and subject.kind != "couple" and self._chance(0.12):
                subject = self._with_relative(subject, frame)
        tense = tense or self._tense(frame, subject)
        negated = linked("not", "nicht") if subject.definite and self._chance(negation) else NOTHING
        draft = Clause(BE, subject.phrase, subject.agreement, tense, negation=negated)
        clause = self._complete(draft, subject)
        if not clause.negation:
            clause = replace(clause, adverb=self._maybe(adverb, self._adverb, clause.tense))
        when = self._when(clause.tense)
        if when and self._chance(time):
            if self._chance(front):
                return replace(clause, front=self._time(when))
            if not clause.clauses:
                return replace(clause, time=self._time(when))
        return clause

    def _with_relative(self, subject: Nominal, frame: str) -> Nominal:
        """The subject with a relative clause between commas, as far as the language has them."""
        return subject._replace(phrase=subject.phrase + self._relative(subject, frame))

    def _when(self, tense: str) -> str:
        """Which adverbials of time a tense takes; none for the perfect tenses."""
        if "perfect" in tense:
            return ""
        if tense in ("past", "could", "wanted", "had"):
            return "past"
        return "present" if tense == "present" else "future"

    def _frame(self) -> str:
        return "past" if self._chance(0.4) else "present"

    # --- One clause ------------------------------------------------------------------------------

    def _simple(self) -> Phrase:
        return self._clause(self._frame(), front=0.4).statement() + linked(".", ".")

    def _question(self) -> Phrase:
        clause = self._clause(self._frame(), negation=0, adverb=0.1)
        return clause.question() + linked("?", "?")

    def _content_question(self) -> Phrase:
        """Who, whom, what, where, when and why."""
        frame = self._frame()
        kinds = {"why warum": 3, "when wann": 2, "where wo": 2, "who wer": 3, "whom wen": 2}
        word = self._weighted({**kinds, "what was": 3})
        front = aligned(*word.split())
        mark = linked("?", "?")
        if word == "who wer":
            return self._clause(frame, Nominal(front, definite=False)).statement() + mark
        if word in ("why warum", "when wann"):
            clause = self._clause(frame, negation=0, adverb=0, time=0)
            return replace(clause, front=front).question() + mark
        subject = self._subject(("person",))
        tense = self._tense(frame, subject)
        if word == "where wo":
            group, place = self._pick(("located", "animate")), NOTHING
        else:
            group = "person" if word == "whom wen" else self._pick(("thing", "food", "drink"))
            place = self._maybe(0.5, self._place)
        verb = self._pick(VERBS[group])
        clause = Clause(verb, subject.phrase, subject.agreement, tense, front=front)
        if when := self._when(tense):
            clause = replace(clause, time=self._maybe(0.4, self._time, when))
        return replace(clause, complements=place).question() + mark

    # --- Several clauses -------------------------------------------------------------------------

    def _subordinate(self, frame: str, subject: Nominal) -> Phrase:
        """A clause with a conjunction."""
        past = frame == "past"
        conjunctions = [row for row in lexicon.CONJUNCTIONS if row[1 + past]]
        row = self._pick(conjunctions)
        source, target = row[0], row[1 + past]
        reason = source in ("because", "although")
        tense = None if reason else frame
        if source == "after":
            tense = "pluperfect" if past else "perfect"
        elif source == "so that":
            tense = "could" if past else "can"
        clause = self._clause(frame, subject, tense, time=0.25, adverb=0.2 * reason)
        return replace(clause, front=linked(source, target)).subordinate()

    def _subordinate_last(self) -> Phrase:
        frame, subject = self._frame(), self._subject()
        main = self._clause(frame, subject, front=0.25, time=0.3).statement()
        clause = self._subordinate(frame, self._follower(subject, 0.6))
        return main + _after_comma(clause) + linked(".", ".")

    def _subordinate_first(self) -> Phrase:
        frame, subject = self._frame(), self._subject()
        front = self._subordinate(frame, subject) + linked(",", ",")
        main = self._clause(frame, self._follower(subject, 0.5), time=0.3)
        return replace(main, front=front).statement() + linked(".", ".")

    def _follower(self, subject: Nominal, probability: float) -> Nominal:
        """The subject of the next clause: a pronoun for that of the first, or another one."""
        if subject.definite and self._chance(probability):
            return pronoun_for(subject)
        return self._subject()

    def _reported(self) -> Phrase:
        """That-clauses and indirect questions."""
        frame, subject = self._frame(), self._subject(("person",))
        asking = self._chance(0.25)
        conjunction = linked("whether", "ob") if asking else linked("that", "dass")
        content = self._clause(frame, self._follower(subject, 0.3), time=0.4)
        content = replace(content, front=conjunction).subordinate()
        matrix = Clause(
            self._pick(VERBS["asking" if asking else "saying"]),
            subject.phrase,
            subject.agreement,
            "past" if frame == "past" else self._weighted({"present": 3, "perfect": 1}),
            clauses=_after_comma(content),
        )
        if subject.definite and self._chance(0.15):
            matrix = replace(matrix, negation=linked("not", "nicht"))
        return matrix.statement() + linked(".", ".")

    def _infinitive(self) -> Phrase:
        """Infinitives with "to" after some verbs, and with "in order to" after a movement."""
        frame, subject = self._frame(), self._subject(("person",), pronoun=0.4)
        inner = self._act(Clause(BE, NOTHING, tense=frame), subject)
        if not inner.clauses:
            inner = replace(inner, time=self._maybe(0.2, self._time, "future"))
        purpose = self._chance(0.35)
        tense = "past" if frame == "past" else self._weighted({"present": 2, "perfect": 1})
        outer = Clause(self._pick(VERBS["trying"]), subject.phrase, subject.agreement, tense)
        if purpose:
            outer = self._moving(outer, subject)
        elif subject.definite and self._chance(0.12):
            outer = replace(outer, negation=linked("not", "nicht"))
        return replace(outer, clauses=inner.infinitive(purpose)).statement() + linked(".", ".")

    def _coordinated(self) -> Phrase:
        """Two main clauses, or two verbs with one subject."""
        frame, subject = self._frame(), self._subject(("person",))
        if self._chance(0.4):
            first = self._clause(frame, subject, frame, time=0.3, front=0.9)
            second = self._clause(frame, subject, frame, time=0.3, adverb=0, negation=0)
            second = replace(second, subject=NOTHING)
            joint = linked("and", "und")
        else:
            first = self._clause(frame, subject, time=0.3)
            second = self._clause(frame, self._follower(subject, 0.4), time=0.3)
            joint = linked(", but", ", aber") if self._chance(0.4) else linked("and", "und")
        return first.statement() + joint + second.statement() + linked(".", ".")

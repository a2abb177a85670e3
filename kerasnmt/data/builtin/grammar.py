"""Random sentences, with the ways to join clauses and their frequencies."""

from __future__ import annotations

from typing import NamedTuple

from kerasnmt.data.builtin import lexicon
from kerasnmt.data.builtin.clause import Clause
from kerasnmt.data.builtin.lexicon import VERBS
from kerasnmt.data.builtin.nominals import Nominal, pronoun_for
from kerasnmt.data.builtin.phrase import NOTHING, Phrase, Words, aligned, linked, words
from kerasnmt.data.builtin.predicates import Predicates, frame_of

MAX_LENGTH = 32  # maximum number of words and punctuation marks on each side


class Sentence(NamedTuple):
    """Sentence in both languages, and its names in the order of the English words."""

    phrase: Phrase
    names: tuple[str, ...]


def _tidy(sentence: Words) -> Words:
    """Remove commas before another punctuation mark."""
    following = (*(word.text for word in sentence[1:]), "")
    return tuple(
        word
        for word, after in zip(sentence, following, strict=True)
        if not (word.text == "," and after in (",", ".", "?"))
    )


def _after_comma(clause: Phrase) -> Phrase:
    """Add the comma before a German subordinate clause, which links to the conjunction."""
    return Phrase(clause.source, words(",", *clause.source[0].keys) + clause.target)


class Grammar(Predicates):
    """Random sentences; see `Constituents` for the arguments."""

    def sentence(self) -> Sentence:
        """Make a sentence of at most `MAX_LENGTH` words on each side."""
        kinds = {
            self._simple: 8,
            self._subordinate_last: 5,
            self._subordinate_first: 4,
            self._reported: 4,
            self._infinitive: 4,
            self._coordinated: 4,
            self._question: 2,
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
        time: float = 0.3,
        adverb: float = 0.2,
        negation: float = 0.18,
    ) -> Clause:
        """Make a clause with random constituents.

        Args:
            frame: Time frame of the tenses, `"present"` or `"past"`.
            subject: Subject, or None for a random one.
            tense: Tense, or None for a random one.
            front: Probability that an adverbial of time comes first.
            time: Probability of an adverbial of time.
            adverb: Probability of an adverb before the English verb.
            negation: Probability of "not".
        """
        if subject is None:
            subject = self._subject()
            if not subject.person and subject.kind != "couple" and self._chance(0.15):
                phrase = subject.phrase + self._relative(subject, frame)
                subject = subject._replace(phrase=phrase)
        clause = Clause(subject.phrase, subject.agreement, tense or self._tense(frame, subject))
        if subject.definite and self._chance(negation):
            clause.negation = linked("not", "nicht")
        self._complete(clause, subject)
        if subject.definite and not clause.negation:
            clause.adverb = self._maybe(adverb, self._adverb, clause.tense)
        if self._chance(time):
            if self._chance(front):
                clause.front = self._when(clause.tense)
            elif not clause.clauses:
                clause.time = self._when(clause.tense)
        return clause

    def _when(self, tense: str) -> Phrase:
        """Draw an adverbial of time for a tense. The perfect tenses have none."""
        if "perfect" in tense:
            return NOTHING
        frame = frame_of(tense)
        return self._time("future" if frame == "present" != tense else frame)

    def _simple_tense(self, frame: str, subject: Nominal) -> str:
        """Draw a tense for clauses with "when" and similar words, which exclude the perfect."""
        return self._tense(frame, subject).replace("perfect", "present")

    def _frame(self) -> str:
        return "past" if self._chance(0.4) else "present"

    # --- One clause ------------------------------------------------------------------------------

    def _simple(self) -> Phrase:
        return self._clause(self._frame(), time=0.5, front=0.4).statement() + linked(".", ".")

    def _question(self) -> Phrase:
        return self._clause(self._frame(), negation=0, adverb=0.1).question() + linked("?", "?")

    def _content_question(self) -> Phrase:
        """Make a question with who, whom, what, where, when or why."""
        frame, mark = self._frame(), linked("?", "?")
        kinds = {"why warum": 3, "when wann": 2, "where wo": 2, "who wer": 3, "whom wen": 2}
        word = self._weighted({**kinds, "what was": 3})
        front = aligned(*word.split())
        if word == "who wer":
            return self._clause(frame, Nominal(front, definite=False)).statement() + mark
        if word in ("why warum", "when wann"):
            subject = self._subject()
            tense = self._simple_tense(frame, subject) if word == "when wann" else None
            clause = self._clause(frame, subject, tense, negation=0, adverb=0, time=0)
            clause.front = front
            return clause.question() + mark
        subject = self._subject(("person",))
        clause = Clause(subject.phrase, subject.agreement, self._tense(frame, subject), front=front)
        if word == "where wo":
            group = self._pick(("located", "animate"))
        else:
            group = "person" if word == "whom wen" else self._pick(("thing", "food", "drink"))
            clause.complements = self._maybe(0.5, self._place)
        clause.verb = self._pick(VERBS[group])
        clause.time = self._maybe(0.4, self._when, clause.tense)
        return clause.question() + mark

    # --- Several clauses -------------------------------------------------------------------------

    def _subordinate(self, frame: str, subject: Nominal) -> Phrase:
        """Make a sentence with a subordinate clause."""
        past = frame == "past"
        row = self._pick([row for row in lexicon.CONJUNCTIONS if row[1 + past]])
        source, target = row[0], row[1 + past]
        reason = source in ("because", "although")
        tense = None if reason else frame
        if source == "after":
            tense = "pluperfect" if past else "perfect"
        elif source == "so that":
            tense = "could" if past else "can"
        clause = self._clause(frame, subject, tense, adverb=0.2 * reason, negation=0.2 * reason)
        clause.front = linked(source, target)
        return clause.subordinate()

    def _subordinate_last(self) -> Phrase:
        frame, subject = self._frame(), self._subject()
        tense = self._simple_tense(frame, subject)
        main = self._clause(frame, subject, tense, front=0.3).statement()
        clause = self._subordinate(frame, self._follower(subject, 0.6))
        return main + _after_comma(clause) + linked(".", ".")

    def _subordinate_first(self) -> Phrase:
        frame, subject = self._frame(), self._subject()
        front = self._subordinate(frame, subject) + linked(",", ",")
        follower = self._follower(subject, 0.5)
        tense = self._simple_tense(frame, follower)
        main = self._clause(frame, follower, tense)
        main.front = front
        return main.statement() + linked(".", ".")

    def _follower(self, subject: Nominal, probability: float) -> Nominal:
        """Draw the next subject: a pronoun for the first clause's subject, or another subject."""
        if subject.definite and self._chance(probability):
            return pronoun_for(subject)
        return self._subject()

    def _reported(self) -> Phrase:
        """Make a that-clause or an indirect question."""
        frame, subject = self._frame(), self._subject(("person",))
        asking = self._chance(0.25)
        content = self._clause(frame, self._follower(subject, 0.3))
        content.front = linked("whether", "ob") if asking else linked("that", "dass")
        tense = "past" if frame == "past" else self._weighted({"present": 3, "perfect": 1})
        matrix = Clause(subject.phrase, subject.agreement, tense)
        matrix.verb = self._pick(VERBS["asking" if asking else "saying"])
        matrix.clauses = _after_comma(content.subordinate())
        if subject.definite and self._chance(0.15):
            matrix.negation = linked("not", "nicht")
        return matrix.statement() + linked(".", ".")

    def _infinitive(self) -> Phrase:
        """Make an infinitive with "to" after some verbs, or with "in order to" after a movement."""
        frame, subject = self._frame(), self._subject(("person",), pronoun=0.4)
        purpose = self._chance(0.35)
        tense = "past" if frame == "past" else self._weighted({"present": 2, "perfect": 1})
        outer = Clause(subject.phrase, subject.agreement, tense)
        if purpose:
            self._moving(outer, subject)
        else:
            outer.verb = self._pick(VERBS["trying"])
            if subject.definite and self._chance(0.12):
                outer.negation = linked("not", "nicht")
        inner = Clause(NOTHING, tense=frame)
        self._act(inner, subject)
        if not inner.clauses:
            inner.time = self._maybe(0.2, self._time, "future")
        outer.clauses = inner.infinitive(purpose)
        return outer.statement() + linked(".", ".")

    def _coordinated(self) -> Phrase:
        """Make two main clauses, or two verbs with one subject."""
        frame, subject = self._frame(), self._subject(("person",))
        joint = linked("and", "und")
        if self._chance(0.4):
            first = self._clause(frame, subject, frame, front=0.9)
            second = self._clause(frame, subject, frame, adverb=0, negation=0)
            second.subject = NOTHING
        else:
            first = self._clause(frame, subject)
            second = self._clause(frame, self._follower(subject, 0.4))
            if self._chance(0.4):
                joint = linked(", but", ", aber")
        return first.statement() + joint + second.statement() + linked(".", ".")

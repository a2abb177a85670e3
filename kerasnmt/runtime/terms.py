"""Terms of the searches of `kerasnmt.decoding`, as automata on tokens, without Keras.

`kerasnmt.decoding.terms` computes all states of a batch in a graph. Here, an automaton of one row
computes each state when a hypothesis reaches it first. The answers are the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kerasnmt.ids import END_ID, PAD_ID, UNKNOWN_ID

# Log-probability of an impossible token. It is finite, so that sums and JSON stay valid.
IMPOSSIBLE = np.float32(-1e9)
# More tokens than any sequence has.
_MANY = 10**6

# Term of an alternative, from 1, or 0 for one that must not occur; and its tokens.
Alternative = tuple[int, tuple[int, ...]]
Extension = tuple[float, int, int]


class WordPlaces:
    """Kinds of the tokens of a vocabulary; see `kerasnmt.text.whole_words.word_places`.

    Args:
        opens: Whether a word can begin with each token, boolean `[vocabulary]`.
        closes: Whether a word can begin after each token, boolean `[vocabulary]`.
    """

    def __init__(self, opens: np.ndarray, closes: np.ndarray) -> None:
        self._kinds = 2 * opens.astype("int8") + closes

    def kind(self, token: int) -> int:
        """Return 2 if a word can begin with a token, plus 1 if one can begin after it."""
        return int(self._kinds[token if 0 <= token < len(self._kinds) else UNKNOWN_ID])

    def kinds(self, size: int) -> np.ndarray:
        """Return the kinds of the tokens below `size`, int8 `[size]`.

        Tokens outside the vocabulary are copied words, and have the kind of the unknown token.
        """
        copied = np.full(max(0, size - len(self._kinds)), self._kinds[UNKNOWN_ID])
        return np.concatenate([self._kinds, copied])[:size]


class _State(NamedTuple):
    """What a sequence has of the terms.

    Attributes:
        read: Alternatives with whose beginnings the sequence ends, and their numbers of tokens.
        met: Terms that are met.
        closed: Whether a word can begin next, whatever the next token is.
    """

    read: frozenset[tuple[int, int]]
    met: frozenset[int]
    closed: bool


class _Choice(NamedTuple):
    """What a next token leads to.

    Attributes:
        state: State after it.
        needed: Number of tokens that are needed then.
        least: Number of tokens that must be less than the room.
        violates: Whether a forbidden phrase occurs.
        may_violate: Whether a forbidden phrase occurs if the sequence ends then.
        progress: Whether the token belongs to a term that is not yet met.
    """

    state: int
    needed: int
    least: int
    violates: bool
    may_violate: bool
    progress: bool


class TermAutomaton:
    """Automaton that reads the sequences of a row; see `kerasnmt.decoding.terms.TermAutomaton`.

    States have numbers. The first is 0.

    Args:
        alternatives: Alternatives of the terms of the row, with at least one token each.
        places: Kinds of the tokens.
    """

    def __init__(self, alternatives: Sequence[Alternative], places: WordPlaces) -> None:
        self._alternatives, self._places = alternatives, places
        self.tokens = [*dict.fromkeys(token for _, ids in alternatives for token in ids)]
        # Number of tokens of the shortest alternative of each term, perhaps after a space.
        self._sizes: dict[int, int] = {}
        for number, ids in alternatives:
            if number:
                size = len(ids) + (places.kind(ids[0]) < 2)
                self._sizes[number] = min(size, self._sizes.get(number, _MANY))
        first = _State(frozenset(), frozenset(), True)
        self._states, self._numbers = [first], {first: 0}
        self._needed: list[int] = [self._need(first)]
        self._choices: dict[tuple[int, int, int | None], _Choice] = {}

    @property
    def wants(self) -> bool:
        """Whether a term must occur."""
        return bool(self._sizes)

    def choice(self, number: int, token: int) -> _Choice:
        """Return what a token leads to from a state."""
        kind = self._places.kind(token)
        if token == END_ID or token in self.tokens:
            return self._choice(number, kind, token)
        return self._choice(number, kind)

    def mask(
        self, masked: np.ndarray, free: np.ndarray, number: int, room: int, kinds: np.ndarray
    ) -> None:
        """Make the tokens impossible after which the terms could not be met.

        Args:
            masked: Log-probabilities of a hypothesis with other constraints, float32
                `[vocabulary]`, which change.
            free: Log-probabilities of the tokens of terms.
            number: State of the hypothesis.
            room: Number of tokens that fit into the sequence.
            kinds: Kinds of the vocabulary.
        """
        fits = self._fit(number, room)

        def possible(choice: _Choice) -> bool:
            if choice.violates or (choice.may_violate and room <= 1):
                return False
            return choice.least < room or not fits

        own = {}
        for token in (*self.tokens, END_ID):
            if token < len(masked):
                choice = self.choice(number, token)
                values = free if choice.progress and fits else masked
                own[token] = values[token] if possible(choice) else IMPOSSIBLE
        for kind in range(4):
            if not possible(self._choice(number, kind)):
                masked[kinds == kind] += IMPOSSIBLE
        for token, value in own.items():
            masked[token] = value

    def best(
        self, total: np.ndarray, overall: Sequence[Extension], numbers: Sequence[int], room: int
    ) -> list[Extension]:
        """Return the best extensions, by dynamic beam allocation.

        See `kerasnmt.decoding.beam_search.TermBeam`.

        Args:
            total: Log-probabilities of all extensions, float32 `[hypotheses, vocabulary]`.
            overall: The best extensions of all hypotheses: log-probability, token and hypothesis.
            numbers: States of the hypotheses.
            room: Number of tokens that fit into the sequences.

        Returns:
            As many extensions.
        """
        candidates = [one for one in overall if one[0] > IMPOSSIBLE / 2]
        known = {one[1:] for one in candidates}
        for parent, number in enumerate(numbers):
            best = int(total[parent].argmax())
            further = [best]
            for token in self.tokens if self._fit(number, room) else ():
                if token < total.shape[1] and self.choice(number, token).progress:
                    further.append(token)
            for token in dict.fromkeys(further):
                if (token, parent) not in known and total[parent, token] > IMPOSSIBLE / 2:
                    candidates.append((float(total[parent, token]), token, parent))
        candidates.sort(key=lambda one: -one[0])
        ranks: dict[int, int] = {}
        order: list[tuple[int, int, Extension]] = []
        for one in candidates:
            number = numbers[one[2]]
            bank = self.choice(number, one[1]).needed if self._fit(number, room) else 0
            ranks[bank] = rank = ranks.get(bank, -1) + 1
            order.append((rank, bank, one))
        chosen = [one for _, _, one in sorted(order, key=lambda one: one[:2])]
        missing: list[Extension] = [(float(IMPOSSIBLE), PAD_ID, 0)] * len(overall)
        return [*chosen, *missing][: len(overall)]

    def _fit(self, number: int, room: int) -> bool:
        """Return whether the terms of a sequence fit, which otherwise goes on as without them."""
        return self._needed[number] <= room

    def _choice(self, number: int, kind: int, token: int | None = None) -> _Choice:
        """Return what a token of a term or the end token leads to, or other tokens of a kind."""
        key = number, kind, token
        if key not in self._choices:
            self._choices[key] = self._choose(*key)
        return self._choices[key]

    def _choose(self, number: int, kind: int, token: int | None) -> _Choice:
        now, alternatives, ends = self._states[number], self._alternatives, token == END_ID
        closed = not ends and kind % 2 == 1
        boundary = now.closed or ends or kind >= 2
        confirmed = self._found(now) if boundary else ()
        met = now.met | {alternatives[one][0] for one in confirmed} - {0}
        begun = [*now.read, *((one, 0) for one in range(len(alternatives)) if boundary)]
        read = frozenset(
            (one, count + 1)
            for one, count in begun
            if alternatives[one][1][count : count + 1] == (token,)
        )
        after = _State(read, frozenset(met), closed)
        forbidden = any(alternatives[one][0] == 0 for one in self._found(after))
        # After a closing token, the phrase was already found. Then a prefix has forced it.
        late = any(alternatives[one][0] == 0 for one in confirmed) and not now.closed
        if after not in self._numbers:
            self._numbers[after] = len(self._states)
            self._states.append(after)
            self._needed.append(self._need(after))
        state = self._numbers[after]
        lacking = self._sizes.keys() - after.met
        least = (_MANY if lacking else 0) if ends else self._needed[state]
        return _Choice(
            state,
            self._needed[number if ends else state],
            least,
            late or (forbidden and closed),
            forbidden,
            any(alternatives[one][0] in lacking for one, _ in read),
        )

    def _found(self, state: _State) -> list[int]:
        """Return the alternatives with which a sequence ends."""
        return [one for one, count in state.read if count == len(self._alternatives[one][1])]

    def _need(self, state: _State) -> int:
        """Return the number of tokens that a sequence needs, with the end token."""
        if not self.wants:
            return 0
        found = {self._alternatives[one][0] for one in self._found(state)}
        must_go_on = 0 in found and not state.closed
        lacking = self._sizes.keys() - state.met
        kept = lacking - found
        of_kept, of_all = (sum(self._sizes[one] for one in some) for some in (kept, lacking))
        # If a word begins next, the terms that are found are met; otherwise they are not.
        least = of_all + 2 if must_go_on else of_kept + 1
        for one, (number, ids) in enumerate(self._alternatives):
            for count, token in enumerate(ids):
                begins = state.closed if count == 0 else (one, count) in state.read
                word = state.closed or self._places.kind(token) >= 2
                others = of_kept if word else of_all
                allowed = kept if word and not must_go_on else () if word else lacking
                if begins and number in allowed:
                    least = min(least, others + len(ids) - count + 1 - self._sizes[number])
        return least


class Terms:
    """Terms of the rows of a batch.

    Args:
        alternatives: Alternatives of the terms of each row, with at least one token each.
        opens: See `WordPlaces`.
        closes: See `WordPlaces`.
    """

    def __init__(
        self, alternatives: Sequence[Sequence[Alternative]], opens: np.ndarray, closes: np.ndarray
    ) -> None:
        self._places = WordPlaces(opens, closes)
        self._rows = [TermAutomaton(row, self._places) if row else None for row in alternatives]

    def mask(
        self,
        masked: np.ndarray,
        free: np.ndarray,
        rows: np.ndarray,
        states: np.ndarray,
        room: np.ndarray,
    ) -> None:
        """Make the tokens impossible after which the terms could not be met.

        Args:
            masked: Log-probabilities with other constraints, float32
                `[rows, hypotheses, vocabulary]`, which change.
            free: Log-probabilities of the tokens of terms, of the same shape.
            rows: Index of each row in the batch.
            states: States of the hypotheses, `[rows, hypotheses]`.
            room: Number of tokens that fit into the sequences, `[rows, 1]`.
        """
        kinds = self._places.kinds(masked.shape[2])
        for place, row in enumerate(rows.tolist()):
            if (automaton := self._rows[row]) is not None:
                for slot, state in enumerate(states[place].tolist()):
                    pair = masked[place, slot], free[place, slot]
                    automaton.mask(*pair, state, int(room[place, 0]), kinds)

    def best(
        self,
        total: np.ndarray,
        overall: tuple[np.ndarray, np.ndarray, np.ndarray],
        rows: np.ndarray,
        states: np.ndarray,
        room: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the best extensions of each row, by dynamic beam allocation.

        Args:
            total: Log-probabilities of all extensions, float32 `[rows, hypotheses, vocabulary]`.
            overall: The best extensions of all hypotheses: their scores, ids and parents,
                `[rows, beam_size]` each.
            rows: See `mask`.
            states: See `mask`.
            room: See `mask`.

        Returns:
            Scores, ids and parents, in the shape of `overall`.
        """
        scores, ids, parents = map(np.array, overall)
        for place, row in enumerate(rows.tolist()):
            automaton = self._rows[row]
            if automaton is not None and automaton.wants:
                best = [
                    *zip(scores[place], ids[place].tolist(), parents[place].tolist(), strict=True)
                ]
                best = automaton.best(
                    total[place], best, states[place].tolist(), int(room[place, 0])
                )
                scores[place], ids[place], parents[place] = zip(*best, strict=True)
        return scores, ids, parents

    def after(self, rows: np.ndarray, states: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return the states `[rows, hypotheses]` after tokens of the same shape."""
        following = np.array(states)
        for place, row in enumerate(rows.tolist()):
            if (automaton := self._rows[row]) is not None:
                pairs = zip(states[place].tolist(), ids[place].tolist(), strict=True)
                following[place] = [automaton.choice(*pair).state for pair in pairs]
        return following

"""Terms that a sequence must contain, or must not contain, as an automaton on its tokens."""

from typing import Any, NamedTuple

from keras import ops

from kerasnmt.ids import UNKNOWN_ID

# Number of a token that equals no other token.
_NO_TOKEN = -9
# More tokens than any sequence has.
_MANY = 10**6
# Kinds of tokens besides those of the terms: whether a word begins at the token, and after it.
_OPENS, _CLOSES = (False, False, True, True), (False, True, False, True)
KINDS = len(_OPENS)

State = dict[str, Any]


class Terms(NamedTuple):
    """Terms of each row, as sequences of tokens.

    Each sequence is an alternative of a term. A sequence contains a term if it contains one of its
    alternatives as whole words: words begin at the start of the alternative and after its end.
    A row may have no terms.

    Attributes:
        ids: Tokens of each alternative, int32 `[batch, alternatives, length]`, right-padded. An
            alternative without tokens counts as absent.
        numbers: Number of the term to which each alternative belongs, from 1, int32
            `[batch, alternatives]`. 0 for an alternative that must not occur.
        opens: Whether a word can begin with each token after any other token, boolean
            `[vocabulary]`: its text begins with a space or punctuation. None if each token is a
            word.
        closes: Whether a word can begin after each token, whatever follows, boolean `[vocabulary]`.
            None if each token is a word. Tokens outside the vocabulary are like the unknown token.
    """

    ids: Any
    numbers: Any
    opens: Any = None
    closes: Any = None


class TermAutomaton:
    """Automaton that reads a sequence, and knows which terms it contains.

    The state of a hypothesis has all beginnings of alternatives with which the sequence ends. So no
    occurrence is missed, as by the failure links of Aho and Corasick: each alternative is matched
    by the algorithm Shift-And. An alternative has been found when all of its tokens have been read;
    its term is met when a word begins with the next token, or the sequence ends.

    `needed` is the number of tokens that a sequence needs to meet its terms: the rest of an
    alternative that has begun, the shortest alternative of every other term, one after another, and
    the end token. A token is impossible if more would be needed after it than there is room for.
    So terms that fit into the maximum length are always met.

    Source: Post and Vilar (2018), "Fast lexically constrained decoding with dynamic beam allocation
    for neural machine translation", section 3; Hu et al. (2019), "Improved lexically constrained
    decoding for translation and monolingual rewriting", section 3, for terms that share a
    beginning; Baeza-Yates and Gonnet (1992), "A new approach to text searching", for Shift-And.

    Args:
        terms: Terms of each row.
        end_id: Token that ends a sequence.
        pad_id: Token that pads the alternatives.
    """

    def __init__(self, terms: Terms, end_id: int, pad_id: int) -> None:
        self._terms = terms
        self.end_id = end_id
        self._pad_id = pad_id

    @property
    def first(self) -> State:
        """State before the first token, a dict of tensors `[batch, ...]`."""
        absent = ops.zeros_like(self._terms.ids, dtype="bool")
        return {
            "read": absent,
            "met": ops.zeros_like(self._terms.numbers, dtype="bool"),
            "closed": ops.ones_like(absent[:, 0, 0]),
        }

    @property
    def tables(self) -> dict[str, Any]:
        """Facts about the terms of each row, a dict of tensors `[batch, ...]`."""
        terms = self._terms
        real = ops.not_equal(terms.ids, self._pad_id)
        ids = ops.where(real, terms.ids, _NO_TOKEN)
        lengths = ops.sum(ops.cast(real, "int32"), axis=-1)
        wanted = ops.logical_and(terms.numbers > 0, lengths > 0)
        numbers = ops.where(wanted, terms.numbers, 0)
        same = ops.logical_and(ops.equal(numbers[:, :, None], numbers[:, None]), wanted[:, None])
        same = ops.logical_and(same, wanted[:, :, None])
        opens, _ = self.kinds(ids)
        # If a word cannot begin with its first token, an alternative needs a space before it.
        size = lengths + ops.where(opens[..., 0], 0, 1)
        alternatives = ops.arange(ops.shape(ids)[1], dtype="int32")
        earlier = alternatives < alternatives[:, None]
        other = size[:, None] < size[:, :, None]
        tie = ops.logical_and(ops.equal(size[:, None], size[:, :, None]), earlier)
        shorter = ops.logical_and(same, ops.logical_or(other, tie))
        lead = ops.logical_and(wanted, ops.logical_not(ops.any(shorter, axis=-1)))
        lead = ops.where(lead, size, 0)
        # Tokens that are left, with the end token, instead of those of the shortest alternative.
        left = lengths[..., None] - ops.arange(ops.shape(ids)[2], dtype="int32")
        shortest = ops.sum(ops.where(same, lead[:, None], 0), axis=-1)[..., None]
        goes_on = ops.logical_and(left > 0, wanted[..., None])
        left = ops.where(goes_on, left + 1 - shortest, _MANY)
        tokens = ops.reshape(ids, (ops.shape(ids)[0], -1))
        places = ops.arange(ops.shape(tokens)[1], dtype="int32")
        again = ops.logical_and(
            ops.equal(tokens[:, :, None], tokens[:, None]), places < places[:, None]
        )
        tokens = ops.where(ops.any(again, axis=-1), _NO_TOKEN, tokens)
        return {
            "ids": ids,
            "lengths": lengths,
            "opens": opens,
            "same": ops.cast(same, "float32"),
            "wanted": wanted,
            "forbidden": ops.logical_and(terms.numbers == 0, lengths > 0),
            "lead": lead,
            "left": left,
            "tokens": tokens,
        }

    def kinds(self, ids: Any) -> tuple[Any, Any]:
        """Return whether words begin at tokens, and after them, in the shape of `ids`."""
        opens, closes = self._terms.opens, self._terms.closes
        if opens is None or closes is None:
            return ops.ones_like(ids, dtype="bool"), ops.ones_like(ids, dtype="bool")
        opens, closes = (ops.convert_to_tensor(one, "bool") for one in (opens, closes))
        inside = ops.logical_and(ids >= 0, ids < ops.shape(opens)[0])
        known = ops.where(inside, ids, UNKNOWN_ID)
        return ops.take(opens, known, axis=0), ops.take(closes, known, axis=0)

    def chosen(self, after: State, tables: dict[str, Any], ids: Any) -> State:
        """Return the states `[batch, hypotheses, ...]` after tokens, int32 `[batch, hypotheses]`.

        Args:
            after: States after each choice, from `choices`.
            tables: From `tables`.
            ids: Tokens.
        """
        choice = self.choice_of(ids, tables["tokens"])
        rows, hypotheses, choices = ops.shape(after["closed"])
        first = ops.arange(rows * hypotheses, dtype="int32") * choices
        flat = ops.reshape(first, (-1, hypotheses)) + choice

        def choose(value: Any) -> Any:
            return ops.take(ops.reshape(value, (-1, *ops.shape(value)[3:])), flat, axis=0)

        return {name: choose(value) for name, value in after.items()}

    def choices(
        self, state: State, tables: dict[str, Any], room: Any
    ) -> tuple[State, Any, Any, Any]:
        """Return what each next token leads to; see `choice_of` for the order of the tokens.

        Args:
            state: State of each hypothesis, `[batch, hypotheses, ...]`.
            tables: From `tables`.
            room: Number of tokens that fit into each sequence, int32 `[batch, hypotheses]`.

        Returns:
            The states after the tokens, and three tensors, `[batch, hypotheses, choices, ...]`
            each: whether the token is possible, boolean; whether it belongs to a term that is not
            yet met, boolean; and the number of tokens that are needed after it, int32.
        """
        tokens = tables["tokens"]
        opens, closes = self.kinds(tokens)
        others = ops.zeros_like(tokens[:, :1], dtype="bool")
        opens, closes = (
            ops.concatenate([own, *(ops.logical_or(others, one) for one in more)], axis=1)[:, None]
            for own, more in ((opens, (*_OPENS, False)), (closes, (*_CLOSES, False)))
        )
        ends = ops.equal(ops.arange(ops.shape(opens)[-1], dtype="int32"), ops.shape(opens)[-1] - 1)
        real = ops.not_equal(tokens, _NO_TOKEN)[..., None, None]
        equal = ops.equal(tokens[:, :, None, None], tables["ids"][:, None])
        equal = ops.pad(ops.logical_and(equal, real), ((0, 0), (0, KINDS + 1), (0, 0), (0, 0)))
        now = {name: value[:, :, None] for name, value in state.items()}
        after, violated = self._after(now, tables, equal[:, None], opens, closes, ends)

        both = {name: ops.concatenate([now[name], after[name]], axis=2) for name in state}
        found = self._found(both, tables)
        needed = self._needed(both, found, tables)
        before, needed = needed[..., :1], needed[..., 1:]
        lacking = ops.logical_not(after["met"])
        missing = ops.any(ops.logical_and(_at(tables["lead"]) > 0, lacking), axis=-1)
        room = room[..., None]
        fits = ops.where(ends, ops.where(missing, _MANY, 0), needed) < room
        last = ops.any(ops.logical_and(found[:, :, 1:], _at(tables["forbidden"])), axis=-1)
        violated = ops.logical_or(violated, ops.logical_and(last, room <= 1))
        possible = ops.logical_and(ops.logical_or(fits, before > room), ops.logical_not(violated))
        begun = ops.logical_and(ops.any(after["read"], axis=-1), _at(tables["wanted"]))
        progress = ops.any(ops.logical_and(begun, lacking), axis=-1)
        return after, possible, progress, ops.where(ends, before, needed)

    def choice_of(self, ids: Any, tokens: Any) -> Any:
        """Return the indices of tokens among the choices, int32.

        The choices are the tokens of the terms; any other token, by its kind, in the order of
        `kind_of`; and the end token.

        Args:
            ids: Tokens, int32 `[batch, n]`.
            tokens: Tokens of the terms, int32 `[batch, tokens]`, each once; from `tables`.
        """
        count = ops.shape(tokens)[1]
        same = ops.equal(ids[..., None], tokens[:, None])
        choice = ops.sum(ops.where(same, ops.arange(count, dtype="int32"), 0), axis=-1)
        choice = ops.where(ops.any(same, axis=-1), choice, count + self.kind_of(ids))
        return ops.where(ops.equal(ids, self.end_id), count + KINDS, choice)

    def kind_of(self, ids: Any) -> Any:
        """Return the index of the kind of each token among the kinds, int32."""
        opens, closes = (ops.cast(one, "int32") for one in self.kinds(ids))
        return 2 * opens + closes

    def _after(
        self, now: State, tables: dict[str, Any], equal: Any, opens: Any, closes: Any, ends: Any
    ) -> tuple[State, Any]:
        """Return the states after the choices, and whether a forbidden phrase occurs.

        Args:
            now: States, `[batch, hypotheses, 1, ...]`.
            tables: From `tables`.
            equal: Whether each token equals the tokens of each alternative, boolean
                `[batch, 1, choices, alternatives, length]`.
            opens: Whether a word can begin with the token, `[batch, 1, choices]`.
            closes: Whether a word can begin after the token, `[batch, 1, choices]`.
            ends: Whether it is the end token, `[choices]`.

        Returns:
            The states `[batch, hypotheses, choices, ...]`, and a boolean
            `[batch, hypotheses, choices]`.
        """
        boundary = ops.logical_or(now["closed"], ops.logical_or(opens, ends))
        confirmed = ops.logical_and(self._found(now, tables), boundary[..., None])
        met = ops.logical_or(now["met"], _of_terms(confirmed, tables))
        earlier = ops.pad(now["read"][..., :-1], (*[(0, 0)] * 4, (1, 0)))
        first = ops.equal(ops.arange(ops.shape(equal)[-1], dtype="int32"), 0)
        begins = ops.logical_and(boundary[..., None, None], first)
        read = ops.logical_and(ops.logical_or(begins, earlier), equal)
        closed = ops.logical_and(closes, ops.ones_like(boundary))
        after = {"read": read, "met": met, "closed": closed}
        # After a closing token, the phrase was already found. Then a prefix has forced it.
        late = ops.logical_and(confirmed, ops.logical_not(now["closed"])[..., None])
        found = ops.logical_and(self._found(after, tables), closed[..., None])
        occurs = ops.logical_and(ops.logical_or(late, found), _at(tables["forbidden"]))
        return after, ops.any(occurs, axis=-1)

    def _found(self, state: State, tables: dict[str, Any]) -> Any:
        """Return which alternatives a sequence ends with."""
        places = ops.arange(ops.shape(tables["ids"])[-1], dtype="int32")
        last = ops.equal(places, tables["lengths"][..., None] - 1)
        return ops.any(ops.logical_and(state["read"], _at(last)), axis=-1)

    def _needed(self, state: State, found: Any, tables: dict[str, Any]) -> Any:
        """Return the number of tokens that states `[batch, hypotheses, choices, ...]` need."""
        must_go_on = ops.logical_and(
            ops.any(ops.logical_and(found, _at(tables["forbidden"])), axis=-1),
            ops.logical_not(state["closed"]),
        )
        # The terms that are missing if a word begins next, and if the present word continues.
        lacking = ops.logical_not(state["met"])
        kept = ops.logical_and(lacking, ops.logical_not(_of_terms(found, tables)))
        of_kept, of_all = (
            ops.sum(ops.where(one, _at(tables["lead"]), 0), axis=-1) for one in (kept, lacking)
        )
        anew = ops.where(must_go_on, of_all + 2, of_kept + 1)
        # Or an alternative continues that has begun, or that can begin here.
        kept = ops.logical_and(kept, ops.logical_not(must_go_on)[..., None])
        if_word, if_not = (
            ops.where(one, others[..., None], _MANY)
            for one, others in ((kept, of_kept), (lacking, of_all))
        )
        closed = state["closed"][..., None, None]
        word = ops.logical_or(closed, _at(tables["opens"]))
        others = ops.where(word, if_word[..., None], if_not[..., None])
        begun = ops.pad(state["read"][..., :-1], (*[(0, 0)] * 4, (1, 0)))
        places = ops.arange(ops.shape(begun)[-1], dtype="int32")
        begun = ops.logical_or(begun, ops.logical_and(closed, ops.equal(places, 0)))
        costs = ops.where(begun, others + _at(tables["left"]), _MANY)
        least = ops.min(costs, axis=(-1, -2))
        has_terms = _at(ops.any(tables["wanted"], axis=-1))
        return ops.where(has_terms, ops.minimum(anew, least), 0)


def _at(table: Any) -> Any:
    """Return a table `[batch, ...]` for all hypotheses and choices, `[batch, 1, 1, ...]`."""
    return table[:, None, None]


def _of_terms(alternatives: Any, tables: dict[str, Any]) -> Any:
    """Return the alternatives whose term has one of the given alternatives."""
    given = ops.cast(alternatives, "float32")
    return ops.matmul(given, ops.expand_dims(tables["same"], 1)) > 0

"""Terms that a sequence must contain, or must not contain, as an automaton on its tokens."""

from typing import Any, NamedTuple

from keras import ops

from kerasnmt.ids import UNKNOWN_ID
from kerasnmt.speed.gather import gather, take_rows

# Number of a token that equals no other token.
_NO_TOKEN = -9
# More tokens than any sequence has.
_MANY = 10**6
# Nodes of sequences that end with no beginning of an alternative: after an open word, and others.
_OPEN, _CLOSED, _ROOTS = 0, 1, 2
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

    A node is the longest beginning of an alternative with which a sequence ends, as in the
    automaton of Aho and Corasick: it tells which shorter beginnings the sequence ends with, too. So
    no occurrence is missed. Two nodes, the roots, are for sequences that end with no beginning:
    after one of them, a word can begin with any token. An alternative has been found when all of
    its tokens have been read; its term is met when a word begins with the next token, or the
    sequence ends. Tables of the nodes are computed once, so a step only looks up.

    `needed` is the number of tokens that a sequence needs to meet its terms: the rest of an
    alternative that has begun, the shortest alternative of every other term, one after another, and
    the end token. A token is impossible if more would be needed after it than there is room for.
    So terms that fit into the maximum length are always met. A sequence whose terms do not fit goes
    on as if it had none; what must not occur stays forbidden.

    Source: Post and Vilar (2018), "Fast lexically constrained decoding with dynamic beam allocation
    for neural machine translation", section 3; Hu et al. (2019), "Improved lexically constrained
    decoding for translation and monolingual rewriting", section 3, for terms that share a
    beginning; Aho and Corasick (1975), "Efficient string matching", for the nodes.

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
    def tables(self) -> dict[str, Any]:
        """Facts about the terms of each row, a dict of tensors `[batch, ...]`.

        Their axes are nodes, choices (see `choice_of`) or terms. So a step needs memory for
        `[batch, hypotheses, choices, terms]`, whatever the vocabulary.
        """
        terms = self._terms
        real = ops.not_equal(terms.ids, self._pad_id)
        lengths = ops.sum(ops.cast(real, "int32"), axis=-1)
        wanted = ops.logical_and(terms.numbers > 0, lengths > 0)
        groups, count = _grouped(ops.where(wanted, terms.numbers, 0))
        # If a word cannot begin with its first token, an alternative needs a space before it.
        size = lengths + ops.where(self.kinds(terms.ids[..., 0])[0], 0, 1)
        lead = -_greatest(-size[:, None], groups, count + 1)[:, 0]
        # The size of the shortest alternative of each term, and 0 for no term.
        lead = ops.where(ops.logical_or(lead < 0, ops.arange(count + 1) == count), 0, lead)
        # Tokens that an alternative has, with the end token, beyond the shortest of its term.
        beyond = lengths + 1 - take_rows(lead, groups)

        ids, owners, places = _in_a_row(terms.ids, real)
        opens, closes = self.kinds(ids)
        tokens = _once(ids)
        opening, closing, ends = self._kinds_of_choices(tokens)
        read = _with_roots(_shared(ids, places, opens, closes), False, False)
        closed = _with_roots(closes, False, True)
        boundary = ops.logical_or(opening, ends)[:, None]
        boundary = ops.logical_or(closed[..., None], boundary)
        # Whether an alternative has been read up to a token that is not its first.
        begun = ops.pad(read[..., :-1], ((0, 0), (0, 0), (1, 0)))
        begun = ops.logical_and(begun, places[:, None] > 0)
        following = self._following(ids, tokens, places, begun, boundary, closing)

        def of_owners(values: Any) -> Any:
            return take_rows(values, owners)

        def of_terms(values: Any) -> Any:
            return _greatest(values, of_owners(groups), count + 1)

        last = ops.equal(places, of_owners(lengths) - 1)[:, None]
        found = of_terms(ops.logical_and(read, last)) > 0
        found, forbidden = found[..., :count], found[..., count]
        begins = of_terms(read)[..., :count] > 0
        unsure = ops.logical_and(forbidden, ops.logical_not(closed))
        left = ops.where(of_owners(wanted), of_owners(beyond) - places, _MANY)
        here = ops.logical_and(closed[..., None], ops.equal(places, 0)[:, None])
        here = ops.logical_and(ops.logical_or(begun, here), ops.not_equal(ids, _NO_TOKEN)[:, None])
        left = ops.where(here, left[:, None], _MANY)
        word = ops.logical_or(closed[..., None], opens[:, None])
        if_word = ops.where(ops.logical_or(unsure[..., None], ops.logical_not(word)), _MANY, left)
        if_not = ops.where(word, _MANY, left)
        if_word, if_not = (
            -ops.maximum(of_terms(-one)[..., :count], -_MANY) for one in (if_word, if_not)
        )
        # After a closing token, the phrase was already found. Then a prefix has forced it.
        late = ops.logical_and(boundary, unsure[..., None])
        flags = ops.stack([unsure, forbidden, ops.logical_and(forbidden, closed)], axis=-1)
        # Few tables, because a look-up takes longer than the computation on its values.
        facts = (found, begins, if_word, if_not, flags)
        return {
            "tokens": tokens,
            "lead": lead[:, :count],
            "has_terms": ops.any(wanted, axis=-1),
            "choices": 4 * following + 2 * ops.cast(boundary, "int32") + ops.cast(late, "int32"),
            "nodes": ops.concatenate([ops.cast(one, "int32") for one in facts], axis=-1),
        }

    def first(self, tables: dict[str, Any]) -> State:
        """Return the state before the first token, for the `tables`.

        It is `node`, int32 `[batch]`, and `met`, boolean `[batch, terms]`: whether each is met.
        """
        met = ops.zeros_like(tables["lead"], dtype="bool")
        return {"node": ops.full_like(tables["lead"][:, 0], _CLOSED), "met": met}

    def kinds(self, ids: Any) -> tuple[Any, Any]:
        """Return whether words begin at tokens, and after them, in the shape of `ids`."""
        opens, closes = self._terms.opens, self._terms.closes
        if opens is None or closes is None:
            return ops.ones_like(ids, dtype="bool"), ops.ones_like(ids, dtype="bool")
        opens, closes = (ops.convert_to_tensor(one, "bool") for one in (opens, closes))
        inside = ops.logical_and(ids >= 0, ids < ops.shape(opens)[0])
        known = ops.where(inside, ids, UNKNOWN_ID)
        return gather(opens, known), gather(closes, known)

    def chosen(self, state: State, tables: dict[str, Any], ids: Any) -> State:
        """Return the states after tokens, int32 `[batch, hypotheses]`.

        Args:
            state: State from `choices`.
            tables: From `tables`.
            ids: Tokens.
        """
        choice = self.choice_of(ids, tables["tokens"])[..., None]
        packed = take_rows(state["choices"], choice, axis=2)
        met = ops.where(packed % 4 > 1, state["confirmed"], state["met"])
        return {"node": packed[..., 0] // 4, "met": met}

    def choices(
        self, state: State, tables: dict[str, Any], room: Any
    ) -> tuple[State, Any, Any, Any]:
        """Return what each next token leads to; see `choice_of` for the order of the tokens.

        Args:
            state: State of each hypothesis, `[batch, hypotheses, ...]`: from `first` or `chosen`.
            tables: From `tables`.
            room: Number of tokens that fit into each sequence, int32 `[batch, hypotheses]`.

        Returns:
            The state for `chosen`, and three tensors, `[batch, hypotheses, choices]` each: whether
            the token is possible, boolean; whether it belongs to a term that is not yet met,
            boolean; and the number of tokens that are needed after it, int32. If the terms of a
            hypothesis do not fit, no token belongs to them, and none is needed.
        """
        node, met = state["node"], state["met"]
        count = ops.shape(met)[-1]
        packed = take_rows(tables["choices"], node)
        facts = take_rows(tables["nodes"], ops.concatenate([node[..., None], packed // 4], axis=2))
        found = facts[..., :count] > 0
        confirmed = ops.logical_or(met, found[:, :, 0])
        now, boundary = met[:, :, None], (packed % 4 > 1)[..., None]
        after = ops.where(boundary, confirmed[:, :, None], now)
        lacking = ops.logical_not(ops.concatenate([now, after], axis=2))
        needed = self._needed(facts, found, lacking, tables)
        before, needed, facts, lacking = (
            needed[..., :1],
            needed[..., 1:],
            facts[:, :, 1:],
            lacking[:, :, 1:],
        )
        ends = ops.arange(ops.shape(needed)[-1], dtype="int32")
        ends = ops.equal(ends, ops.shape(needed)[-1] - 1)
        missing = ops.any(ops.logical_and(tables["lead"][:, None, None] > 0, lacking), axis=-1)
        room = room[..., None]
        fits = ops.where(ends, ops.where(missing, _MANY, 0), needed) < room
        # A forbidden phrase occurs, or would occur if the sequence ended.
        occurs = facts[..., -1] + packed % 2 + facts[..., -2] * ops.cast(room <= 1, "int32") > 0
        over = before > room
        possible = ops.logical_and(ops.logical_or(fits, over), ops.logical_not(occurs))
        begun = facts[..., count : 2 * count] > 0
        progress = ops.any(ops.logical_and(begun, lacking), axis=-1)
        progress = ops.logical_and(progress, ops.logical_not(over))
        needed = ops.where(over, 0, ops.where(ends, before, needed))
        kept = {"choices": packed, "met": met, "confirmed": confirmed}
        return kept, possible, progress, needed

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

    def _kinds_of_choices(self, tokens: Any) -> tuple[Any, Any, Any]:
        """Return whether a word can begin with each choice, and after it, and which is the end."""
        opens, closes = self.kinds(tokens)
        others = ops.zeros_like(tokens[:, :1], dtype="bool")
        opens, closes = (
            ops.concatenate([own, *(ops.logical_or(others, one) for one in more)], axis=1)
            for own, more in ((opens, (*_OPENS, False)), (closes, (*_CLOSES, False)))
        )
        count = ops.shape(opens)[1]
        return opens, closes, ops.equal(ops.arange(count, dtype="int32"), count - 1)

    def _following(
        self, ids: Any, tokens: Any, places: Any, begun: Any, boundary: Any, closing: Any
    ) -> Any:
        """Return the node after each node and choice, int32 `[batch, nodes, choices]`.

        Args:
            ids: Tokens of the alternatives, int32 `[batch, size]`.
            tokens: These tokens, each once.
            places: Place of each token in its alternative.
            begun: Whether an alternative has been read up to each token that is not its first,
                boolean `[batch, nodes, size]`.
            boundary: Whether a word begins with each choice, boolean `[batch, nodes, choices]`.
            closing: Whether a word can begin after each choice, boolean `[batch, choices]`.
        """
        size = ops.shape(ids)[1]
        real = ops.not_equal(ids, _NO_TOKEN)
        choice = ops.where(real, self.choice_of(ids, tokens), 0)
        shape = ops.shape(begun)
        indices = ops.broadcast_to(choice[:, None], shape)
        begins = take_rows(boundary, indices, axis=2)
        begins = ops.logical_and(begins, ops.equal(places, 0)[:, None])
        goes_on = ops.logical_and(ops.logical_or(begun, begins), real[:, None])
        # Of the alternatives that the token continues, the first of the longest is the node.
        ranks = places * size + ops.arange(size, dtype="int32")[::-1]
        ranks = ops.where(goes_on, ranks[:, None], -1)
        best = _greatest(ranks, choice, ops.shape(closing)[1])
        roots = ops.where(closing, _CLOSED, _OPEN)[:, None]
        return ops.where(best >= 0, _ROOTS + size - 1 - best % size, roots)

    def _needed(self, facts: Any, found: Any, lacking: Any, tables: dict[str, Any]) -> Any:
        """Return the number of tokens that are needed, int32 `[batch, hypotheses, choices]`.

        Args:
            facts: Facts of the nodes, int32 `[batch, hypotheses, choices, facts]`.
            found: Terms that have been found, boolean `[batch, hypotheses, choices, terms]`.
            lacking: Terms that are not met, of the same shape.
            tables: From `tables`.
        """
        count = ops.shape(lacking)[-1]
        if_word, if_not = facts[..., 2 * count : 3 * count], facts[..., 3 * count : -3]
        # The terms that are missing if a word begins next, and if the present word continues.
        kept = ops.logical_and(lacking, ops.logical_not(found))
        lead = tables["lead"][:, None, None]
        of_kept, of_all = (ops.sum(ops.where(one, lead, 0), axis=-1) for one in (kept, lacking))
        anew = ops.where(facts[..., -3] > 0, of_all + 2, of_kept + 1)
        # Or an alternative continues that has begun, or that can begin here.
        of_word = of_kept + ops.min(ops.where(kept, if_word, _MANY), axis=-1, initial=_MANY)
        of_part = of_all + ops.min(ops.where(lacking, if_not, _MANY), axis=-1, initial=_MANY)
        least = ops.minimum(anew, ops.minimum(of_word, of_part))
        return ops.where(tables["has_terms"][:, None, None], least, 0)


def _grouped(numbers: Any) -> tuple[Any, Any]:
    """Number the terms of each row from 0.

    Args:
        numbers: Numbers of the terms of alternatives, int32 `[batch, alternatives]`; 0 for none.

    Returns:
        The new numbers, of the same shape, and the number of terms, which alternatives of no term
        have as their number. If the shape is static, this is the number of alternatives; otherwise
        the greatest number of terms of a row, at least 1.
    """
    first = ops.logical_and(numbers > 0, ops.not_equal(_once(numbers), _NO_TOKEN))
    smaller = ops.logical_and(first[:, None], numbers[:, None] < numbers[:, :, None])
    count = ops.shape(numbers)[1]
    if not all(isinstance(one, int) for one in ops.shape(numbers)):
        count = ops.max(ops.sum(ops.cast(first, "int32"), axis=-1), initial=1)
    groups = ops.sum(ops.cast(smaller, "int32"), axis=-1)
    return ops.where(numbers > 0, groups, count), count


def _once(tokens: Any) -> Any:
    """Replace tokens `[batch, n]` that came before in their row."""
    places = ops.arange(ops.shape(tokens)[1], dtype="int32")
    again = ops.logical_and(
        ops.equal(tokens[:, :, None], tokens[:, None]), places < places[:, None]
    )
    return ops.where(ops.any(again, axis=-1), _NO_TOKEN, tokens)


def _in_a_row(ids: Any, real: Any) -> tuple[Any, Any, Any]:
    """Return the tokens of all alternatives one after another.

    Args:
        ids: Tokens of each alternative, int32 `[batch, alternatives, length]`.
        real: Which of them are tokens.

    Returns:
        The tokens, their alternatives, and their places in these, int32 `[batch, size]` each. If
        the shape is static, the size is `alternatives * length`; otherwise the greatest number of
        tokens of a row, at least 1.
    """
    rows, alternatives, length = ops.shape(ids)
    real = ops.reshape(real, (rows, -1))
    size = alternatives * length
    index = ops.arange(size, dtype="int32")
    order = ops.sort(ops.where(real, index, index + size), axis=-1)
    if not all(isinstance(one, int) for one in (rows, alternatives, length)):
        most = ops.max(ops.sum(ops.cast(real, "int32"), axis=-1), initial=1)
        order = order[:, :most]
    index = order % size
    tokens = take_rows(ops.reshape(ids, (rows, -1)), index)
    return ops.where(order < size, tokens, _NO_TOKEN), index // length, index % length


def _shared(ids: Any, places: Any, opens: Any, closes: Any) -> Any:
    """Return which beginnings of alternatives a beginning of an alternative ends with.

    Args:
        ids: Tokens of the alternatives, int32 `[batch, size]`.
        places: Place of each token in its alternative.
        opens: Whether a word can begin with each token.
        closes: Whether a word can begin after each token.

    Returns:
        Whether an alternative, up to a token, ends with another, up to another token, as whole
        words at the start, boolean `[batch, size, size]`.
    """
    rows, size = ops.shape(ids)
    real = ops.not_equal(ids, _NO_TOKEN)
    equal = ops.logical_and(ops.equal(ids[:, :, None], ids[:, None]), real[:, None])
    # Count the unequal tokens along each diagonal, which is a column if rows are one longer.
    unequal = ops.pad(ops.cast(ops.logical_not(equal), "int32"), ((0, 0), (0, 0), (0, size)))
    unequal = ops.pad(ops.reshape(unequal, (rows, -1)), ((0, 0), (0, size)))
    sums = ops.cumsum(ops.reshape(unequal, (rows, size, 2 * size + 1)), axis=1)
    sums = ops.reshape(sums, (rows, -1))[:, : 2 * size * size]
    sums = ops.reshape(sums, (rows, size, 2 * size))[:, :, :size]
    # The second alternative begins after these tokens.
    index = ops.arange(size, dtype="int32")
    first, second = index[:, None] - places[:, None] - 1, index - places - 1
    second = ops.broadcast_to(second[:, None], ops.shape(first))
    inside = ops.logical_and(first >= 0, second >= 0)
    before = ops.reshape(ops.where(inside, first * size + second, 0), (rows, -1))
    before = take_rows(ops.reshape(sums, (rows, -1)), before)
    before = ops.where(inside, ops.reshape(before, (rows, size, size)), 0)
    fits = ops.logical_and(ops.equal(sums, before), places[:, :, None] >= places[:, None])
    after = ops.reshape(ops.maximum(first, 0), (rows, -1))
    after = ops.reshape(take_rows(closes, after), (rows, size, size))
    starts = take_rows(opens, ops.maximum(index - places, 0))[:, None]
    whole = ops.equal(places[:, :, None], places[:, None])
    boundary = ops.logical_or(whole, ops.logical_or(after, starts))
    return ops.logical_and(ops.logical_and(fits, boundary), real[:, :, None])


def _greatest(values: Any, groups: Any, count: Any) -> Any:
    """Return the greatest value of each group, int32 `[batch, nodes, count]`.

    Args:
        values: Integers or booleans `[batch, nodes, size]`.
        groups: Group of each of the last axis, int32 `[batch, size]`. An empty group has a value
            below -1.
        count: Number of groups.
    """
    rows, nodes, _ = ops.shape(values)
    values = ops.reshape(ops.transpose(ops.cast(values, "int32"), (0, 2, 1)), (-1, nodes))
    segments = ops.reshape(ops.arange(rows, dtype="int32")[:, None] * count + groups, (-1,))
    best = ops.segment_max(values, segments, rows * count)
    return ops.transpose(ops.reshape(best, (rows, count, nodes)), (0, 2, 1))


def _with_roots(table: Any, *values: bool) -> Any:
    """Put the values of the two roots before the nodes of a boolean table `[batch, nodes, ...]`."""
    roots = (ops.logical_or(ops.zeros_like(table[:, :1]), value) for value in values)
    return ops.concatenate([*roots, table], axis=1)

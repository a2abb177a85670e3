"""Search among listed ids, for a vocabulary shortlist."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from keras import ops

from kerasnmt.decoding.hypotheses import Hypotheses, SearchTree, StepOutputs
from kerasnmt.decoding.terms import Terms
from kerasnmt.speed.gather import gather

_Written = TypeVar("_Written", Hypotheses, SearchTree, StepOutputs)
_NO_ID = 2**31 - 1


class EveryId(NamedTuple):
    """Vocabulary of a search that is not restricted; see `ListedIds`."""

    def step(self, step: Callable) -> Callable:
        """Return the step."""
        return step

    def numbers_of(self, ids: Any) -> Any:
        """Return the ids."""
        return ids

    def terms(self, terms: Terms) -> Terms:
        """Return the terms."""
        return terms

    def written(self, found: _Written) -> _Written:
        """Return what the search has found."""
        return found


class ListedIds(NamedTuple):
    """Vocabulary of a search that is restricted to some ids.

    The search sees the number of each id in the list instead of the id. Ids that are not in the
    list have the number `size`, which is outside the vocabulary of the search.

    Attributes:
        ids: Int32 `[size]`, in ascending order, padded on the right with 0. They begin with the
            special ids, so that each of these is its own number.
        rows: Output weights of the ids; see `SearchModel.output_rows`.
    """

    ids: Any
    rows: Any

    def step(self, step: Callable) -> Callable:
        """Return the step of the search, for a step of ids that takes `rows` last."""

        def numbered_step(numbers: Any, states: Any, memory: Any) -> tuple[Any, Any, Any]:
            return step(gather(self.ids, numbers), states, memory, self.rows)

        return numbered_step

    def numbers_of(self, ids: Any) -> Any:
        """Return the numbers of ids, int32, in the shape of `ids`."""
        size = ops.shape(self.ids)[0]
        padding = ops.logical_and(self.ids == 0, ops.arange(size, dtype="int32") > 0)
        ascending = ops.where(padding, _NO_ID, self.ids)
        numbers = ops.cast(ops.searchsorted(ascending, ops.reshape(ids, (-1,))), "int32")
        numbers = ops.reshape(ops.minimum(numbers, size - 1), ops.shape(ids))
        return ops.where(gather(self.ids, numbers) == ids, numbers, size)

    def terms(self, terms: Terms) -> Terms:
        """Return terms of numbers, for terms of ids."""
        opens, closes = (
            None if table is None else gather(ops.convert_to_tensor(table), self.ids)
            for table in (terms.opens, terms.closes)
        )
        return Terms(self.numbers_of(terms.ids), terms.numbers, opens, closes)

    def written(self, found: _Written) -> _Written:
        """Return what the search has found with ids, which has numbers."""
        return found._replace(ids=gather(self.ids, found.ids))

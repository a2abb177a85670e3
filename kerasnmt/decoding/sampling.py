"""Sampling of sequences."""

from typing import Any

from keras import ops

from kerasnmt.decoding.buffers import clear, reorder
from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.decoding.hypotheses import Hypotheses
from kerasnmt.decoding.paths import Paths
from kerasnmt.decoding.random_numbers import row_keys, uniforms
from kerasnmt.speed.gather import gather, take_rows
from kerasnmt.speed.top_k import top_k

# Greatest `top_k` for which the blocks of `top_k` are faster than a search of whole rows.
_BLOCKWISE = 1000


class Sampling(Paths):
    """Search that draws `options.samples` sequences for each row, and returns distinct ones.

    `top_k` and `top_p` restrict the tokens. A uniform random number and the cumulative distribution
    of the remaining tokens, most probable first, determine each token. The scores use the
    log-probabilities of the model, without the temperature.

    Source: Fan, Lewis and Dauphin (2018), "Hierarchical neural story generation" (`top_k`);
    Holtzman et al. (2020), "The curious case of neural text degeneration" (`top_p`).
    """

    def numbers(self, sampled_from: Any) -> Any:
        """Return random numbers, which `sampled_from` and `options.seed` determine."""
        keys = row_keys(sampled_from, self.pad_id)
        return uniforms(keys, self.options.seed, (self.options.samples, self.options.max_length))

    def choose(self, log_probabilities: Any, time: Any, numbers: Any) -> tuple[Any, Any]:
        """Draw tokens; see `Paths`."""
        options = self.options
        size = ops.shape(log_probabilities)[-1]
        if 0 < options.top_k <= _BLOCKWISE:
            best, ids = top_k(log_probabilities, options.top_k)
        elif not options.top_k:
            best, ids = ops.top_k(log_probabilities, size)
        else:
            known = isinstance(size, int)
            most = (min if known else ops.minimum)(options.top_k, size)
            best, ids = ops.top_k(log_probabilities, most)
        # Impossible tokens must stay impossible, even with a high temperature.
        tempered = ops.where(best > IMPOSSIBLE / 2, best / options.temperature, IMPOSSIBLE)
        probabilities = ops.softmax(tempered, axis=-1)
        before = ops.cumsum(probabilities, axis=-1) - probabilities
        kept = ops.where(before < options.top_p, probabilities, 0.0)
        total = ops.cumsum(kept, axis=-1)
        number = gather(numbers, time, axis=2)[..., None] * total[..., -1:]
        index = ops.sum(ops.cast(total <= number, "int32"), axis=-1)
        # If rounding made a number as large as the total, take the last remaining token.
        last = ops.sum(ops.cast(kept > 0, "int32"), axis=-1) - 1
        index = ops.minimum(index, last)[..., None]
        shape = (*ops.shape(index)[:2], ops.shape(best)[-1])  # the first step has one hypothesis

        def at_index(values: Any) -> Any:
            return take_rows(ops.broadcast_to(values, shape), index, axis=2)[..., 0]

        return ops.cast(at_index(ids), "int32"), at_index(best)

    def best(self, last: dict[str, Any]) -> Hypotheses:
        """Return the best distinct sequences, best first."""
        ids, scores, records = super().best(last)
        equal = ops.all(ids[:, :, None] == ids[:, None, :], axis=-1)
        order = ops.arange(self.options.samples, dtype="int32")
        drawn_before = ops.any(ops.logical_and(equal, order[:, None] > order), axis=-1)
        scores, best = ops.top_k(ops.where(drawn_before, IMPOSSIBLE, scores), self.n_best)
        ids, records = reorder((ids, records), ops.cast(best, "int32"))
        absent = scores <= IMPOSSIBLE / 2
        ids = ops.where(absent[..., None], self.pad_id, ids)
        return Hypotheses(ids, ops.where(absent, IMPOSSIBLE, scores), clear(records, absent))

"""The greatest values of rows as long as a vocabulary."""

from typing import Any

from keras import ops

from kerasnmt.decoding.pick import pick

# Values of a block. Of 8,000 to 32,000 values, sizes between 50 and 200 were the fastest.
_BLOCK = 100


def top_k(values: Any, k: int) -> tuple[Any, Any]:
    """Find the k greatest values of each row and their places.

    Args:
        values: Floats `[..., length]`; the length may be known only when the graph runs.
        k: How many.

    Returns:
        Values and int32 places, `[..., k]` each, greatest first, of equal ones the first. Where a
        row has fewer, -inf follows, with places beyond the row's end.
    """
    *leading, length = ops.shape(values)
    rows = ops.reshape(values, (-1, 1, length))
    ranks = ops.broadcast_to(ops.arange(k, dtype="int32"), (ops.shape(rows)[0], k))
    greatest, _, places = top_sums(ops.zeros_like(rows[..., 0]), rows, ranks)
    return ops.reshape(greatest, (*leading, k)), ops.reshape(places, (*leading, k))


def top_sums(scores: Any, gains: Any, ranks: Any) -> tuple[Any, Any, Any]:
    """Find the greatest sums of the scores and gains of each row.

    They lie within the k blocks of gains whose own greatest sums are the greatest, and one greatest
    gain of every block is found much faster than several of a long row.

    Args:
        scores: Floats `[batch, hypotheses]`, none of them infinite.
        gains: Floats `[batch, hypotheses, length]`, to be added to the scores; the length may be
            known only when the graph runs.
        ranks: Int32 `[batch, k]`, each less than k: 0 for the greatest sum of the row, 1 for the
            next one, and so on; of equal ones the first in the row is the greater.

    Returns:
        Sums, and the hypotheses and int32 places among the gains that they are of, `[batch, k]`
        each. Where a row has fewer, the sum is -inf, with a place beyond the end of the gains.
    """
    batch, hypotheses, length = ops.shape(gains)
    k = ranks.shape[1]
    rows = batch if isinstance(batch, int) else -1
    known = isinstance(length, int)
    if known and hypotheses * length <= 2 * k * _BLOCK:
        gains = _padded(gains, max(0, k - length))
        length = gains.shape[-1]
        sums = ops.reshape(gains + ops.expand_dims(scores, -1), (rows, hypotheses * length))
        sums, places = (pick(found, ranks) for found in _top(sums, k))
        return sums, places // length, places % length

    size = _block_size(length) if known else _BLOCK
    missing = -length % size
    # Where only the graph knows how many blocks there are, there have to be k at least.
    gains = _padded(gains, missing if known else missing + k * size)
    count = ops.shape(gains)[-1] // size  # of a hypothesis
    blocks = ops.reshape(gains, (-1, size))
    greatest = ops.reshape(ops.max(blocks, axis=-1), (rows, hypotheses, count))
    greatest = greatest + ops.expand_dims(scores, -1)
    _, chosen = _top(ops.reshape(greatest, (rows, hypotheses * count)), k)
    # In ascending order, so that of equals the first is found; by fewer ops than ops.sort has.
    chosen = -ops.top_k(-chosen, k)[0]
    first = ops.expand_dims(ops.arange(batch, dtype="int32"), -1) * (hypotheses * count)
    candidates = ops.take(blocks, first + chosen, axis=0)
    candidates = candidates + ops.expand_dims(pick(scores, chosen // count), -1)
    found = _top(ops.reshape(candidates, (rows, k * size)), k)
    sums, places = (pick(values, ranks) for values in found)
    # The blocks of a row lie one after another, and so do the hypotheses.
    places = pick(chosen, places // size) * size + places % size
    length = count * size
    return sums, places // length, places % length


def _top(values: Any, k: int) -> tuple[Any, Any]:
    values, places = ops.top_k(values, k)
    return values, ops.cast(places, "int32")


def _padded(values: Any, count: Any) -> Any:
    """Put -inf after each row, `count` times."""
    if isinstance(count, int) and not count:
        return values
    widths = [(0, 0)] * (len(values.shape) - 1) + [(0, count)]
    return ops.pad(values, widths, constant_values=-float("inf"))


def _block_size(length: int) -> int:
    """Choose a size that divides the length, where there is one, so that nothing is padded."""
    sizes = [size for size in range(_BLOCK // 2, 2 * _BLOCK + 1) if length % size == 0]
    return min(sizes, key=lambda size: abs(size - _BLOCK), default=_BLOCK)

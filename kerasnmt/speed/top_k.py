"""Greatest values of long rows, such as the log-probabilities of a vocabulary."""

from typing import Any

from keras import ops

from kerasnmt.speed.gather import gather, take_rows

# Number of values in a block. For rows of 8,000 to 32,000 values, 50 to 200 are fastest.
_BLOCK = 100
# Greatest number of comparisons of a row in `pick`.
_FEW = 10_000


def top_k(values: Any, k: int) -> tuple[Any, Any]:
    """Return the k greatest values of each row and their indices.

    Args:
        values: Floats `[..., length]`; the length may be unknown when the graph is traced.
        k: Number of values to return.

    Returns:
        The values and their int32 indices, `[..., k]` each, greatest first. Equal values keep their
        order. If a row has fewer values, -inf follows, with indices beyond the end of the row.
    """
    *leading, length = ops.shape(values)
    rows = ops.reshape(values, (-1, 1, length))
    ranks = ops.broadcast_to(ops.arange(k, dtype="int32"), (ops.shape(rows)[0], k))
    greatest, _, indices = top_sums(ops.zeros_like(rows[..., 0]), rows, ranks)
    return ops.reshape(greatest, (*leading, k)), ops.reshape(indices, (*leading, k))


def plain_top_sums(scores: Any, gains: Any, ranks: Any) -> tuple[Any, Any, Any]:
    """Return the result of `top_sums` by `ops.top_k` of whole rows."""
    hypotheses, length, k = gains.shape[1], gains.shape[2], ranks.shape[1]
    gains = _padded(gains, k if length is None else max(0, k - length))
    length = ops.shape(gains)[-1]
    sums = ops.reshape(gains + ops.expand_dims(scores, -1), (-1, hypotheses * length))
    sums, indices = (pick(values, ranks) for values in _top(sums, k))
    return sums, indices // length, indices % length


def top_sums(scores: Any, gains: Any, ranks: Any) -> tuple[Any, Any, Any]:
    """Return the greatest sums of the scores and gains of each row.

    The result is that of `plain_top_sums`. The k greatest sums are in the k blocks with the
    greatest maxima. The maximum of each block is found much faster than the k greatest values of a
    long row.

    Args:
        scores: Finite floats `[batch, hypotheses]`.
        gains: Floats to add to the scores, `[batch, hypotheses, length]`. The length may be unknown
            when the graph is traced.
        ranks: Ranks of the wanted sums, below k, int32 `[batch, k]`; 0 is the greatest sum of the
            row. The first of equal sums ranks higher.

    Returns:
        The sums, and the hypotheses and indices of their gains, int32, `[batch, k]` each. If a row
        has fewer sums, the sum is -inf, with an index beyond the end of the gains.
    """
    batch, hypotheses, length = ops.shape(gains)
    k = ranks.shape[1]
    rows = batch if isinstance(batch, int) else -1
    known = isinstance(length, int)
    if known and hypotheses * length <= 2 * k * _BLOCK:
        return plain_top_sums(scores, gains, ranks)
    size = _block_size(length) if known else _BLOCK
    missing = -length % size
    # If the number of blocks is unknown, the padding makes sure that there are at least k.
    gains = _padded(gains, missing if known else missing + k * size)
    count = ops.shape(gains)[-1] // size  # blocks of a hypothesis
    blocks = ops.reshape(gains, (-1, size))
    # Keras needs an initial value if there are no rows.
    greatest = ops.max(blocks, axis=-1, initial=-float("inf"))
    greatest = ops.reshape(greatest, (rows, hypotheses, count))
    greatest = greatest + ops.expand_dims(scores, -1)
    _, chosen = _top(ops.reshape(greatest, (rows, hypotheses * count)), k)
    # Ascending order, so that the first of equal sums is found. `ops.sort` needs more ops.
    chosen = -ops.top_k(-chosen, k)[0]
    first = ops.expand_dims(ops.arange(batch, dtype="int32"), -1) * (hypotheses * count)
    candidates = gather(blocks, first + chosen, axis=0)
    candidates = candidates + ops.expand_dims(pick(scores, chosen // count), -1)
    best = _top(ops.reshape(candidates, (rows, k * size)), k)
    sums, indices = (pick(values, ranks) for values in best)
    # The blocks of a row follow each other, and so do its hypotheses.
    indices = pick(chosen, indices // size) * size + indices % size
    length = count * size
    return sums, indices // length, indices % length


def pick(values: Any, indices: Any) -> Any:
    """Take values of each row.

    Few values are taken by comparisons, which need fewer ops than a gather.

    Args:
        values: Numbers `[batch, n]`, where n is known when the graph is traced.
        indices: Indices below n, int32 `[batch, m]`.

    Returns:
        `[batch, m]`.
    """
    if values.shape[1] * (indices.shape[1] or 1) > _FEW:
        return take_rows(values, indices)
    here = ops.expand_dims(indices, -1) == ops.arange(values.shape[1], dtype=indices.dtype)
    return ops.sum(ops.where(here, ops.expand_dims(values, 1), 0), axis=-1)


def _top(values: Any, k: int) -> tuple[Any, Any]:
    values, indices = ops.top_k(values, k)
    return values, ops.cast(indices, "int32")


def _padded(values: Any, count: Any) -> Any:
    """Append -inf to each row `count` times."""
    if isinstance(count, int) and not count:
        return values
    widths = [(0, 0)] * (len(values.shape) - 1) + [(0, count)]
    return ops.pad(values, widths, constant_values=-float("inf"))


def _block_size(length: int) -> int:
    """Choose a size that divides the length, if there is one, to avoid padding."""
    sizes = [size for size in range(_BLOCK // 2, 2 * _BLOCK + 1) if length % size == 0]
    return min(sizes, key=lambda size: abs(size - _BLOCK), default=_BLOCK)

"""The greatest values of rows as long as a vocabulary."""

from typing import Any

from keras import ops

# Values of a block. Of 8,000 to 32,000 values, sizes between 50 and 200 were the fastest.
_BLOCK = 100


def top_k(values: Any, k: int) -> tuple[Any, Any]:
    """Find the k greatest values of each row and their places.

    They lie within the k blocks of the row whose own greatest values are the greatest, and one
    greatest value of every block is found much faster than several of a long row.

    Args:
        values: floats `[..., length]`; the length may be known only when the graph runs.
        k: how many.

    Returns:
        values and int32 places, `[..., k]` each, greatest first, of equal ones the first. Where a
        row has fewer, -inf follows, with places beyond the row's end.
    """
    length = ops.shape(values)[-1]
    known = isinstance(length, int)
    if known and length <= 2 * k * _BLOCK:
        greatest, places = ops.top_k(_padded(values, max(0, k - length)), k)
        return greatest, ops.cast(places, "int32")

    size = _block_size(length) if known else _BLOCK
    missing = -length % size
    # Where only the graph knows how many blocks there are, there have to be k at least.
    values = _padded(values, missing if known else missing + k * size)
    leading, count = ops.shape(values)[:-1], ops.shape(values)[-1] // size
    blocks = ops.reshape(values, (-1, size))
    _, chosen = ops.top_k(ops.reshape(ops.max(blocks, axis=-1), (-1, count)), k)
    chosen = ops.sort(ops.cast(chosen, "int32"), axis=-1)  # so that the first of equals is found
    rows = ops.arange(ops.shape(chosen)[0], dtype="int32")[:, None]
    candidates = ops.take(blocks, rows * count + chosen, axis=0)
    greatest, places = ops.top_k(ops.reshape(candidates, (-1, k * size)), k)
    places = ops.cast(places, "int32")
    places = ops.take_along_axis(chosen, places // size, axis=-1) * size + places % size
    return ops.reshape(greatest, (*leading, k)), ops.reshape(places, (*leading, k))


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

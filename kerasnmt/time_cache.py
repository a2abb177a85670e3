"""Cache of the earlier steps of a decoder."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from keras import ops, tree


class TimeCache(NamedTuple):
    """Cache of tensors from the earlier steps of a decoder.

    Within a loop, the states of a search have constant shapes. So the cache has room for the
    maximum number of steps from the start, and a mask marks the written steps. Between loops,
    `resized` changes the number of steps. Like all states of a search, the cache is a structure of
    tensors:

    ```python
    cache = TimeCache.allocate(keys, steps=100)  # keys of one step, [batch, units]
    cache = cache.write(keys)
    attention(query, cache.values, memory_mask=cache.mask)
    ```

    Attributes:
        values: A structure of tensors `[..., steps, size]`, zeros where nothing is written.
        written: Mask of the written steps, boolean `[batch, steps]`, or
            `[batch, hypotheses, steps]` in a search. A count would be inexact, because
            `keras.layers.RNN` casts all states to floats, and half precision does not represent
            large counts exactly.
    """

    values: Any
    written: Any

    @classmethod
    def allocate(cls, example: Any, steps: int) -> Self:
        """Create an empty cache.

        Args:
            example: Values of one step, a structure of tensors `[batch, ..., size]`. Only the
                shapes and dtypes matter, but the values must be finite.
            steps: Maximum number of steps, an int or an int32 scalar.
        """

        def zeros(value: Any) -> Any:
            *leading, size = ops.shape(value)
            # LiteRT's converter removes constant zeros from a sum, which loses their shape.
            return ops.zeros((*leading, steps, size), value.dtype) + 0 * value[..., None, :]

        first = tree.flatten(example)[0]
        written = ops.zeros((ops.shape(first)[0], steps), dtype="bool")
        return cls(tree.map_structure(zeros, example), written)

    def write(self, values: Any) -> Self:
        """Write the next step.

        Args:
            values: A structure of tensors `[..., size]`, with an axis of hypotheses after the batch
                axis if `written` has one. If the cache is full, nothing is written.

        Returns:
            The cache with one more step.
        """
        cache, write = self.next_step()
        return cache._replace(values=tree.map_structure(write, self.values, values))

    def next_step(self) -> tuple[Self, Callable[[Any, Any], Any]]:
        """Start the next step, to write its values one after another.

        Returns:
            The cache, whose mask includes the next step, and a function
            `write(buffer, value) -> buffer` that writes a value to one of the tensors of `values`.
        """
        here = ops.arange(self.room, dtype="int32") == self.length[..., None]

        def write(buffer: Any, value: Any) -> Any:
            between = len(value.shape) - len(self.written.shape)
            one_hot = ops.cast(here, value.dtype)[(..., *[None] * between, slice(None), None)]
            # Unwritten steps are 0. This product takes half the time of `ops.where`.
            return buffer + ops.matmul(one_hot, ops.expand_dims(value, -2))

        written = ops.cast(ops.logical_or(self.mask, here), self.written.dtype)
        return self._replace(written=written), write

    def resized(self, steps: Any) -> Self:
        """Change the maximum number of steps of the cache.

        A search calls this method so that the cache is not longer than necessary.

        Args:
            steps: New maximum number of steps, an int or an int32 scalar.

        Returns:
            The new cache, with the written steps that fit.
        """

        def resize(value: Any) -> Any:
            *leading, _, size = ops.shape(value)
            room = ops.zeros((*leading, steps, size), value.dtype)
            value = ops.concatenate([value, room], axis=-2)[..., :steps, :]
            return ops.reshape(value, (*leading, steps, size))  # restores the static shape

        written = ops.squeeze(resize(self.written[..., None]), -1)
        return type(self)(tree.map_structure(resize, self.values), written)

    @property
    def room(self) -> Any:
        """Maximum number of steps, an int or, in some graphs, an int32 scalar."""
        return ops.shape(self.written)[-1]

    @property
    def mask(self) -> Any:
        """Mask of the written steps, boolean even if a loop has cast `written`."""
        return ops.cast(self.written, "bool")

    @property
    def length(self) -> Any:
        """Number of written steps, int32 `[batch]` or `[batch, hypotheses]`."""
        return ops.sum(ops.cast(self.written, "int32"), axis=-1)

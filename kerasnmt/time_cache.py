"""What a decoder keeps of its earlier steps."""

from typing import Any, NamedTuple, Self

from keras import ops, tree


class TimeCache(NamedTuple):
    """What a decoder keeps of every step, for the steps after it.

    A search carries its states from step to step, and within a loop their shapes have to stay as
    they are: so there is room from the start for as many steps as there can be, and a mask of what
    is written. Between loops the room can be made another, by `resized`.
    It is a structure of tensors, as the states of a search are:

        cache = TimeCache.allocate(keys, steps=100)  # keys of one step, [batch, units]
        cache = cache.write(keys)
        attention(query, cache.values, memory_mask=cache.mask)

    Attributes:
        values: A structure of tensors `[..., steps, size]`, zeros where nothing is written.
        written: Which places are written, boolean `[batch, steps]`, or
            `[batch, hypotheses, steps]` in a search. A `keras.layers.RNN` makes numbers of it, as
            of all states, in which half precision is exact, and of a count would not be.
    """

    values: Any
    written: Any

    @classmethod
    def allocate(cls, example: Any, steps: int) -> Self:
        """Make an empty cache.

        Args:
            example: What a step writes, a structure of tensors `[batch, ..., size]`, finite, of
                which only the shapes and dtypes count.
            steps: How many steps there is room for; an int, or an int32 scalar.
        """

        def zeros(value: Any) -> Any:
            *leading, size = ops.shape(value)
            # LiteRT's converter drops constant zeros from a sum, and their shape with them.
            return ops.zeros((*leading, steps, size), value.dtype) + 0 * value[..., None, :]

        first = tree.flatten(example)[0]
        written = ops.zeros((ops.shape(first)[0], steps), dtype="bool")
        return cls(tree.map_structure(zeros, example), written)

    def write(self, values: Any) -> Self:
        """Write the next step.

        Args:
            values: A structure of tensors `[..., size]`, with hypotheses after the batch where the
                length has them. Beyond the last place nothing is written.

        Returns:
            The cache with one step more.
        """
        *leading, steps = ops.shape(self.written)
        here = ops.arange(steps, dtype="int32") == self.length[..., None]

        def write_one(buffer: Any, value: Any) -> Any:
            between = len(value.shape) - len(self.written.shape)
            shape = (*leading, *[1] * between, steps, 1)
            place = ops.cast(ops.reshape(here, shape), value.dtype)
            # What is not written is 0. As a product this takes half the time of `ops.where`.
            return buffer + ops.matmul(place, value[..., None, :])

        written = ops.cast(ops.logical_or(self.mask, here), self.written.dtype)
        return type(self)(tree.map_structure(write_one, self.values, values), written)

    def resized(self, steps: Any) -> Self:
        """Make another room: what was written stays, as far as it has a place.

        Args:
            steps: How many steps there is room for; an int, or an int32 scalar.

        Returns:
            The cache; a search calls this to carry no more than it needs, see
            `kerasnmt.decoding.search`.
        """

        def resize(value: Any) -> Any:
            *leading, _, size = ops.shape(value)
            room = ops.zeros((*leading, steps, size), value.dtype)
            value = ops.concatenate([value, room], axis=-2)[..., :steps, :]
            return ops.reshape(value, (*leading, steps, size))  # which a graph knows again

        written = ops.squeeze(resize(self.written[..., None]), -1)
        return type(self)(tree.map_structure(resize, self.values), written)

    @property
    def room(self) -> Any:
        """Number of steps that there is room for; an int, or an int32 scalar in some graphs."""
        return ops.shape(self.written)[-1]

    @property
    def mask(self) -> Any:
        """Which places are written, boolean, whatever a loop makes of `written`."""
        return ops.cast(self.written, "bool")

    @property
    def length(self) -> Any:
        """Number of steps that are written, int32 `[batch]` or `[batch, hypotheses]`."""
        return ops.sum(ops.cast(self.written, "int32"), axis=-1)

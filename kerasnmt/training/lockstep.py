"""Batches of several processes that each read their own data."""

from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from keras import tree

from kerasnmt.training.processes import Processes

# Number of batches that a process reads in a turn, and that are read ahead.
_TURN = 64
# Number of rows that may wait for other processes before a process stops reading.
_MOST_WAITING = 1 << 18

Batch = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]
Shape = tuple[tuple[int, ...], ...]  # of each array of a batch


class _Waiting(NamedTuple):
    """Batches of a process that it has read, but not yielded.

    Attributes:
        counts: Number of batches of each shape.
        has_room: Whether the process can read more in the next turn.
        has_ended: Whether the process has read all its batches.
    """

    counts: dict[Shape, int]
    has_room: bool
    has_ended: bool


def lockstep(batches: tf.data.Dataset, processes: Processes, seed: list[int]) -> Iterator[Batch]:
    """Yield the batches of this process in an order of shapes that is the same in all processes.

    A step of training needs batches of one shape in all processes. The processes take turns: each
    reads some batches, tells the others how many of each shape it has, and yields those that all
    have, in random order. The others wait for a later turn. At the end, a process that lacks a
    batch yields rows of padding, which change neither losses nor weights. So each batch is yielded
    once, and a shape has as many steps as the process with most batches of it has batches.

    Args:
        batches: Finite dataset from `batches` with `fill=True`, another one in each process.
        processes: The processes of the training run, which all iterate at the same pace.
        seed: Seed of the order, the same in all processes.

    Yields:
        Tuples `(inputs, targets, sample_weight)` of arrays.

    Raises:
        ValueError: If another process cannot read its batches.
    """
    own = batches.prefetch(_TURN).as_numpy_iterator()
    waiting: defaultdict[Shape, deque[Batch]] = defaultdict(deque)

    def has_room() -> bool:
        rows = sum(first[0] * len(queue) for (first, *_), queue in waiting.items())
        return rows < _MOST_WAITING

    def read() -> _Waiting:
        wanted = _TURN if has_room() else 0
        news = list(islice(own, wanted))
        for batch in news:
            waiting[tuple(array.shape for array in tree.flatten(batch))].append(batch)
        counts = {shape: len(queue) for shape, queue in waiting.items() if queue}
        return _Waiting(counts, has_room(), has_ended=len(news) < wanted)

    for turn in count():
        everyone = processes.gather(read)
        # If nobody can read on, all batches are yielded: at the end, or if nobody has room.
        common = min if any(one.has_room and not one.has_ended for one in everyone) else max
        shapes = sorted({shape for one in everyone for shape in one.counts})
        numbers = [common(one.counts.get(shape, 0) for one in everyone) for shape in shapes]
        order = np.repeat(np.arange(len(shapes)), numbers)
        np.random.default_rng([*seed, turn]).shuffle(order)
        for index in order:
            queue = waiting[shapes[index]]
            yield queue.popleft() if queue else _padding(batches.element_spec, shapes[index])
        if all(one.has_ended for one in everyone):
            return


def _padding(structure: Any, shape: Shape) -> Batch:
    """Return a batch of rows of padding."""
    zeros = [
        np.zeros(one, spec.dtype.as_numpy_dtype)
        for one, spec in zip(shape, tree.flatten(structure), strict=True)
    ]
    return tree.pack_sequence_as(structure, zeros)

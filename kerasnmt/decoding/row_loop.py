"""Loop over the steps of a search, which drops finished rows."""

from collections.abc import Callable
from typing import Any

from keras import ops, tree

from kerasnmt.speed.gather import gather
from kerasnmt.time_cache import TimeCache

# Parts of the loop's state that are not part of its result.
_NEEDED_BY_STEPS = ("states", "memory")
# Number of steps that a cache has room for at first. The room doubles each time that it is full.
_FIRST_ROOM = 8


def row_loop(unfinished: Callable, advance: Callable, first: dict) -> dict:
    """Advance independent rows until all of them are finished.

    The sentences of a batch end at different times. The loop has two ways, with the same result:

    - In a graph with an unknown number of rows, such as TensorFlow's graphs of texts, the loop
      drops the finished rows when at most 7/8 of its rows are unfinished. If the states contain
      caches, which take longer to copy, it waits until at most 1/2 are. Each step copies a
      `TimeCache` completely, so caches have room for 8 steps at first, then for 16, and so on.
    - If shapes are static, all rows continue to the end, with room for all steps.

    Args:
        unfinished: Function `unfinished(now) -> boolean [rows]`.
        advance: Function `advance(now) -> now`, which computes one step.
        first: Dict of structures: `time`, an int32 scalar; `buffers`, `[length, rows, ...]`; all
            others, including `ids`, `states` and `memory`, `[rows, ...]`. Caches in the states
            contain `time` steps.

    Returns:
        The last value of `now`, without `states` and `memory`.

    Raises:
        ValueError: If the caches in the states have room for different numbers of steps.
    """

    def go_on(now: dict) -> Any:
        return ops.any(unfinished(now))

    if first["ids"].shape[0] is not None:
        (last,) = ops.while_loop(go_on, lambda now: (advance(now),), (first,))
        return _results(last)

    largest = _room_of(first["states"])

    def advance_most(now: dict) -> dict:
        room = None if largest is None else next_room(now["time"], largest)

        def most_go_on(now: dict) -> Any:
            left = ops.sum(ops.cast(unfinished(now), "int32"))
            rows = ops.shape(now["ids"])[0]
            if room is None:
                return left > rows * 7 // 8
            most = left > rows // 2
            # In the largest room, steps continue even if it is full.
            fits = ops.logical_or(now["time"] < room, room >= largest)
            return ops.logical_and(most, fits)

        now = {**now, "states": resized(now["states"], room)}
        (now,) = ops.while_loop(most_go_on, lambda now: (advance(now),), (now,))
        return {**now, "states": resized(now["states"], largest)}

    def stage(now: dict, results: dict, rows: Any) -> tuple[dict, dict, Any]:
        now = advance_most(now)
        results = _write_rows(results, rows, _results(now))
        (left,) = ops.nonzero(unfinished(now))
        left = ops.cast(left, "int32")
        return _take(now, left), results, gather(rows, left, axis=0)

    rows = ops.arange(ops.shape(first["ids"])[0], dtype="int32")
    _, results, _ = ops.while_loop(
        lambda now, results, rows: ops.shape(rows)[0] > 0, stage, (first, _results(first), rows)
    )
    return results


def _room_of(states: Any) -> Any:
    """Return the number of steps that the caches in the states have room for, or None."""
    rooms = []

    def look(part: Any) -> Any:
        if isinstance(part, TimeCache):
            rooms.append(part.room)
            return part
        return None

    tree.traverse(look, states)
    known = {room for room in rooms if isinstance(room, int)}
    if len(known) > 1:
        raise ValueError(
            "Expected states with room for the same number of steps. Received: states with room "
            f"for {sorted(known)} steps. Create all of them with steps=max_length."
        )
    return rooms[0] if rooms else None


def next_room(time: Any, largest: Any) -> Any:
    """Return the smallest room for one more step, int32: 8, 16, 32, … or the largest room."""
    rooms = _FIRST_ROOM * 2 ** ops.arange(24, dtype="int32")
    return ops.minimum(ops.min(ops.where(rooms > time, rooms, rooms[-1])), largest)


def resized(states: Any, room: Any) -> Any:
    """Change the room of the caches in the states to `room` steps, unless it is None."""
    if room is None:
        return states
    return tree.traverse(lambda p: p.resized(room) if isinstance(p, TimeCache) else None, states)


def _results(now: dict) -> dict:
    return {name: value for name, value in now.items() if name not in _NEEDED_BY_STEPS}


def _take(now: dict, rows: Any) -> dict:
    """Keep only the rows with these indices, int32 `[rows]`."""

    def take(name: str, values: Any) -> Any:
        axis = 1 if name == "buffers" else 0
        return tree.map_structure(lambda value: gather(value, rows, axis=axis), values)

    return {name: v if name == "time" else take(name, v) for name, v in now.items()}


def _write_rows(results: dict, rows: Any, now: dict) -> dict:
    """Write the results of some rows, at least one, to their indices among all rows."""
    same = rows == ops.arange(ops.shape(results["ids"])[0], dtype="int32")[:, None]
    here, indices = ops.any(same, axis=1), ops.argmax(ops.cast(same, "int32"), axis=1)

    def write(old: Any, new: Any, axis: int) -> Any:
        shape = [1] * len(old.shape)
        shape[axis] = -1
        return ops.where(ops.reshape(here, shape), gather(new, indices, axis=axis), old)

    def write_all(name: str, old: Any, new: Any) -> Any:
        axis = 1 if name == "buffers" else 0
        return tree.map_structure(lambda one, other: write(one, other, axis), old, new)

    merged = {n: write_all(n, old, now[n]) for n, old in results.items() if n != "time"}
    return {**merged, "time": now["time"]}

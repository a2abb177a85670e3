"""A loop over the steps of a search that leaves finished rows behind."""

from collections.abc import Callable
from typing import Any

from keras import ops, tree

# What only the steps themselves need.
_NEEDED_BY_STEPS = ("states", "memory")
# The first room of states that keep something of every step; the next ones are twice as large each.
_FIRST_ROOM = 8


def row_loop(unfinished: Callable, advance: Callable, first: dict) -> dict:
    """Advance rows, which do not see each other, until all of them are finished.

    Sentences of a batch end at different times, and the last ones would make the others wait. Where
    a graph leaves the number of rows open, as TensorFlow's graphs of texts do, the loop goes on
    with the unfinished rows alone whenever they are at most half of those that it has. There too,
    states that keep something of every step, which have `resized(steps)`, are carried with room for
    8 steps, then for 16, and so on, since each step copies them whole. Where shapes are fixed, all
    rows are advanced to the end, with room for all steps; what is found is the same.

    Args:
        unfinished: `unfinished(now) -> boolean [rows]`.
        advance: `advance(now) -> now`, one step later.
        first: A dict of structures: `time`, an int32 scalar; `made`, `[length, rows, ...]`; all
            else, with `ids`, `states` and `memory` among it, `[rows, ...]`. After `time` steps
            states keep something of so many.

    Returns:
        What was reached, without `states` and `memory`.

    Raises:
        ValueError: If states that keep something of every step have not the same room.
    """

    def go_on(now: dict) -> Any:
        return ops.any(unfinished(now))

    if first["ids"].shape[0] is not None:
        (last,) = ops.while_loop(go_on, lambda now: (advance(now),), (first,))
        return _found(last)

    largest = _room_of(first["states"])

    def advance_most(now: dict) -> dict:
        room = None if largest is None else _next_room(now["time"], largest)

        def most_go_on(now: dict) -> Any:
            left = ops.sum(ops.cast(unfinished(now), "int32"))
            most = left > ops.shape(now["ids"])[0] // 2
            if room is None:
                return most
            # In the largest room a step goes on where there is no place left for it.
            fits = ops.logical_or(now["time"] < room, room >= largest)
            return ops.logical_and(most, fits)

        now = {**now, "states": _resized(now["states"], room)}
        (now,) = ops.while_loop(most_go_on, lambda now: (advance(now),), (now,))
        return {**now, "states": _resized(now["states"], largest)}

    def stage(now: dict, found: dict, rows: Any) -> tuple[dict, dict, Any]:
        now = advance_most(now)
        found = _put(found, rows, _found(now))
        (left,) = ops.nonzero(unfinished(now))
        left = ops.cast(left, "int32")
        return _take(now, left), found, ops.take(rows, left, axis=0)

    rows = ops.arange(ops.shape(first["ids"])[0], dtype="int32")
    _, found, _ = ops.while_loop(
        lambda now, found, rows: ops.shape(rows)[0] > 0, stage, (first, _found(first), rows)
    )
    return found


def _room_of(states: Any) -> Any:
    """For how many steps there is room in states that keep something of each; None for others."""
    rooms = []

    def look(part: Any) -> Any:
        if hasattr(part, "resized"):
            rooms.append(part.room)
            return part
        return None

    tree.traverse(look, states)
    known = {room for room in rooms if isinstance(room, int)}
    if len(known) > 1:
        raise ValueError(
            "Expected states of one room, for as many steps each. Received: states with room for "
            f"{sorted(known)} steps. Make all of them with the same number, that of max_length."
        )
    return rooms[0] if rooms else None


def _next_room(time: Any, largest: Any) -> Any:
    """The least room for one step more, int32: 8, 16, 32, … or the largest."""
    rooms = _FIRST_ROOM * 2 ** ops.arange(24, dtype="int32")
    return ops.minimum(ops.min(ops.where(rooms > time, rooms, rooms[-1])), largest)


def _resized(states: Any, room: Any) -> Any:
    """States with room for so many steps where they keep something of each; None changes none."""
    if room is None:
        return states
    return tree.traverse(lambda p: p.resized(room) if hasattr(p, "resized") else None, states)


def _found(now: dict) -> dict:
    return {name: value for name, value in now.items() if name not in _NEEDED_BY_STEPS}


def _take(now: dict, rows: Any) -> dict:
    """Keep some rows, int32 `[rows]`."""

    def take(name: str, values: Any) -> Any:
        axis = 1 if name == "made" else 0
        return tree.map_structure(lambda value: ops.take(value, rows, axis=axis), values)

    return {name: v if name == "time" else take(name, v) for name, v in now.items()}


def _put(found: dict, rows: Any, now: dict) -> dict:
    """Put what rows have reached, of which there is one at least, in their places among all."""
    same = rows == ops.arange(ops.shape(found["ids"])[0], dtype="int32")[:, None]
    here, places = ops.any(same, axis=1), ops.argmax(ops.cast(same, "int32"), axis=1)

    def put(old: Any, new: Any, axis: int) -> Any:
        shape = [1] * len(old.shape)
        shape[axis] = -1
        return ops.where(ops.reshape(here, shape), ops.take(new, places, axis=axis), old)

    def put_all(name: str, old: Any, new: Any) -> Any:
        axis = 1 if name == "made" else 0
        return tree.map_structure(lambda one, other: put(one, other, axis), old, new)

    merged = {n: put_all(n, old, now[n]) for n, old in found.items() if n != "time"}
    return {**merged, "time": now["time"]}

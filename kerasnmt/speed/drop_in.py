"""Drop-ins and the plain operations that they replace."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import keras

from kerasnmt.nearest_name import unknown_name_message

Operation = TypeVar("Operation", bound=Callable)

# The plain operation of each drop-in, by the drop-in's name.
PLAIN: dict[str, Callable] = {}
_switched_off: set[str] = set()


def replaces(plain: Callable, backend: str | None = None) -> Callable[[Operation], Operation]:
    """Return a decorator for a drop-in.

    Args:
        plain: The plain operation, which takes the same arguments.
        backend: Backend on which the drop-in is used, or None for all.
    """

    def decorate(drop_in: Operation) -> Operation:
        name = drop_in.__qualname__
        PLAIN[name] = plain

        @functools.wraps(drop_in)
        def chosen(*args: Any, **kwargs: Any) -> Any:
            other = backend not in (None, keras.backend.backend())
            return (plain if other or name in _switched_off else drop_in)(*args, **kwargs)

        return cast(Operation, chosen)

    return decorate


@contextmanager
def plain_operations(*names: str) -> Iterator[None]:
    """Context in which plain operations run instead of drop-ins.

    A compiled function keeps the operations with which it was traced.

    Args:
        *names: Names of drop-ins, by default all.

    Raises:
        ValueError: If there is no such drop-in.
    """
    for name in names:
        if name not in PLAIN:
            raise ValueError(unknown_name_message(name, PLAIN, "drop-in"))
    before = {*_switched_off}
    _switched_off.update(names or PLAIN)
    try:
        yield
    finally:
        _switched_off.intersection_update(before)

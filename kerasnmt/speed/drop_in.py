"""Drop-ins and the plain operations that they replace."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import keras

from kerasnmt.nearest_name import unknown_name_message

Operation = TypeVar("Operation", bound=Callable)

_names: set[str] = set()
_plain_names: set[str] = set()


def replaces(plain: Callable, backend: str | None = None) -> Callable[[Operation], Operation]:
    """Return a decorator for a drop-in, whose module has its name.

    Args:
        plain: The plain operation, which takes the same arguments.
        backend: Backend on which the drop-in is used, or None for all.
    """

    def decorate(drop_in: Operation) -> Operation:
        name = drop_in.__module__.rpartition(".")[2]
        _names.add(name)

        @functools.wraps(drop_in)
        def chosen(*args: Any, **kwargs: Any) -> Any:
            other = backend not in (None, keras.backend.backend())
            return (plain if other or name in _plain_names else drop_in)(*args, **kwargs)

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
        if name not in _names:
            raise ValueError(unknown_name_message(name, sorted(_names), "drop-in"))
    before = {*_plain_names}
    _plain_names.update(names or _names)
    try:
        yield
    finally:
        _plain_names.intersection_update(before)

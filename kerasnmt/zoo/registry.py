"""The register of the zoo's constructors."""

import inspect
from collections.abc import Callable

import keras

from kerasnmt.nearest_name import unknown_name_message

_CONSTRUCTORS: dict[str, Callable[..., keras.Model]] = {}


def register(constructor: Callable[..., keras.Model]) -> Callable[..., keras.Model]:
    """Put a constructor into the zoo under its own name."""
    _CONSTRUCTORS[constructor.__name__] = constructor
    return constructor


def list_models(kind: type[keras.Model] = keras.Model) -> list[str]:
    """Return the names of the models of the zoo, sorted.

    Args:
        kind: only those of this class of `kerasnmt.models`, such as `Seq2Seq`; all by default.
    """
    return sorted(name for name, make in _CONSTRUCTORS.items() if _is_of(make, kind))


def get_model(name: str, kind: type[keras.Model] = keras.Model) -> Callable[..., keras.Model]:
    """Return the constructor of a name.

    Args:
        name: a name of `list_models(kind)`.
        kind: the class that its models must have; any by default.

    Raises:
        ValueError: there is no such model, and the message gives the nearest name; or it is of
            another class.
    """
    if name not in _CONSTRUCTORS:
        raise ValueError(unknown_name_message(name, list_models(kind), "model"))
    if not _is_of(_CONSTRUCTORS[name], kind):
        raise ValueError(
            f"Expected the name of a {kind.__name__}, one of {', '.join(list_models(kind))}. "
            f"Received: {name}, a {_kind(_CONSTRUCTORS[name]).__name__}."
        )
    return _CONSTRUCTORS[name]


def _is_of(constructor: Callable[..., keras.Model], kind: type[keras.Model]) -> bool:
    """Whether a constructor's models are of this class, not of one below it; any is of Keras'."""
    return kind in (keras.Model, _kind(constructor))


def _kind(constructor: Callable[..., keras.Model]) -> type[keras.Model]:
    """The class that a constructor says it returns."""
    return inspect.signature(constructor).return_annotation

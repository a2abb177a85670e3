"""The register of the zoo's constructors."""

from collections.abc import Callable

from kerasnmt.models import Seq2Seq
from kerasnmt.nearest_name import unknown_name_message

_CONSTRUCTORS: dict[str, Callable[..., Seq2Seq]] = {}


def register(constructor: Callable[..., Seq2Seq]) -> Callable[..., Seq2Seq]:
    """Put a constructor into the zoo under its own name."""
    _CONSTRUCTORS[constructor.__name__] = constructor
    return constructor


def list_models() -> list[str]:
    """Return the names of all models of the zoo, sorted."""
    return sorted(_CONSTRUCTORS)


def get_model(name: str) -> Callable[..., Seq2Seq]:
    """Return the constructor of a name.

    Raises:
        ValueError: there is no such model; the message gives the nearest name.
    """
    if name not in _CONSTRUCTORS:
        raise ValueError(unknown_name_message(name, list_models(), "model"))
    return _CONSTRUCTORS[name]

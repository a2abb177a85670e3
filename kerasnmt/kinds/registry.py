"""The kinds of requests."""

from collections.abc import Collection

from kerasnmt.kinds.caption import CaptionKind
from kerasnmt.kinds.fields import Field
from kerasnmt.kinds.kind import Kind
from kerasnmt.kinds.story import StoryKind
from kerasnmt.kinds.translation import ContextKind, TranslationKind

_KINDS: list[Kind] = [TranslationKind(), ContextKind(), CaptionKind(), StoryKind()]


def kinds() -> tuple[Kind, ...]:
    """Return all kinds. The first is that of a model that does not describe its requests."""
    return tuple(_KINDS)


def register_kind(kind: Kind) -> None:
    """Add a kind of requests.

    Raises:
        ValueError: If another kind has the same fields.
    """
    if any({*one.names} == {*kind.names} for one in _KINDS):
        raise ValueError(
            f"Expected a kind with other fields. Received: {' and '.join(kind.names)}, which "
            "another kind has."
        )
    _KINDS.append(kind)


def kind_of(names: Collection[str]) -> Kind:
    """Return the kind of requests with these fields, in any order.

    Raises:
        ValueError: If no kind has these fields.
    """
    for kind in _KINDS:
        if {*kind.names} == {*names}:
            return kind
    known = ", or ".join(" and ".join(kind.names) for kind in _KINDS)
    raise ValueError(
        f"Expected the fields of a request, {known}. Received: {' and '.join(names) or 'none'}."
    )


def field_named(name: str) -> Field | None:
    """Return the field with a name, or None if no kind has one."""
    fields = (field for kind in _KINDS for field in kind.fields)
    return next((field for field in fields if field.name == name), None)

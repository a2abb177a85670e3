"""Kinds of requests: texts, texts with a context, images, and stories with a question."""

from kerasnmt.kinds.fields import Field, ImageField, StoryField, TextField
from kerasnmt.kinds.kind import Kind, code
from kerasnmt.kinds.registry import field_named, kind_of, kinds, register_kind

__all__ = [
    "Field",
    "ImageField",
    "Kind",
    "StoryField",
    "TextField",
    "code",
    "field_named",
    "kind_of",
    "kinds",
    "register_kind",
]

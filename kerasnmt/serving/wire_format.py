"""A reader of the protobuf wire format, for processes that must not import TensorFlow.

TensorFlow's message classes come with its Python package. The few fields that serving asks for are
read from the encoded bytes instead. Source: the protobuf encoding guide (varints, tags, lengths).
"""

from collections.abc import Iterator

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


def fields(message: bytes | memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yields the fields of an encoded message, in their order.

    Args:
        message: The encoded message.

    Yields:
        The field's number and its value: an unsigned `int` for a varint, else a `memoryview` of its
        bytes, which `fields` reads on where they hold a message.

    Raises:
        ValueError: If the bytes are no encoded message.
    """
    view = memoryview(message)
    position = 0
    while position < len(view):
        tag, position = _varint(view, position)
        kind = tag & 7
        if kind == _VARINT:
            value, position = _varint(view, position)
        else:
            if kind == _LENGTH:
                size, position = _varint(view, position)
            elif kind in (_FIXED32, _FIXED64):
                size = 4 if kind == _FIXED32 else 8
            else:
                raise ValueError(
                    f"Expected an encoded protobuf message. Received: wire type {kind}"
                )
            if position + size > len(view):
                raise ValueError("Expected an encoded protobuf message. Received: cut-off bytes")
            value, position = view[position : position + size], position + size
        yield tag >> 3, value


def repeated(message: bytes | memoryview, number: int) -> list[int | memoryview]:
    """Returns the values of every field of this number, in their order."""
    return [value for found, value in fields(message) if found == number]


def text(message: bytes | memoryview, number: int) -> str:
    """Returns the last field of this number as text; empty where the message has none."""
    values = repeated(message, number)
    return str(values[-1], "utf-8") if values else ""


def _varint(view: memoryview, position: int) -> tuple[int, int]:
    """Returns the varint at `position`, and the position after it."""
    value = shift = 0
    while position < len(view):
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("Expected an encoded protobuf message. Received: cut-off bytes")

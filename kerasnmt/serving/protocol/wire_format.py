"""Wire format of protobuf, without message classes.

The message classes of TensorFlow are in its Python package, which the child process of
`check_export` must not import. The message classes of TF Serving are in a package that an export
does not need. So this module reads and writes the few fields that the library uses.

Source: Protobuf encoding guide (varints, tags, lengths).
"""

from collections.abc import Iterator
from typing import Any

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


def fields(message: bytes | memoryview) -> Iterator[tuple[int, Any]]:
    """Yield the fields of an encoded message, in order.

    Args:
        message: Encoded message.

    Yields:
        The number of the field and its value: an unsigned `int` for a varint, or else a
        `memoryview` of its bytes. If the bytes are a message, pass them to `fields` again.

    Raises:
        ValueError: If the bytes are not an encoded message.
    """
    view = memoryview(message)
    position = 0
    while position < len(view):
        tag, position = _varint(view, position)
        kind = tag & 7
        value: Any
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
                raise ValueError("Expected an encoded protobuf message. Received: truncated bytes")
            value, position = view[position : position + size], position + size
        yield tag >> 3, value


def repeated(message: bytes | memoryview, number: int) -> list[Any]:
    """Return the values of all fields with this number, in order."""
    return [value for key, value in fields(message) if key == number]


def text(message: bytes | memoryview, number: int) -> str:
    """Return the last field with this number as text, or an empty string if there is none."""
    values = repeated(message, number)
    return str(values[-1], "utf-8") if values else ""


def field(number: int, value: int | bytes | str) -> bytes:
    """Encode one field. A message is the concatenation of its fields.

    Args:
        number: Number of the field.
        value: A non-negative `int`, which becomes a varint; `bytes`, such as an encoded message; or
            text, which becomes UTF-8.

    Returns:
        The encoded field.
    """
    if isinstance(value, int):
        return _encoded_varint(number << 3 | _VARINT) + _encoded_varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _encoded_varint(number << 3 | _LENGTH) + _encoded_varint(len(value)) + value


def _encoded_varint(value: int) -> bytes:
    """Return the varint of a non-negative number."""
    low = bytearray()
    while value > 0x7F:
        low.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*low, value])


def _varint(view: memoryview, position: int) -> tuple[int, int]:
    """Return the varint at `position`, and the position after it."""
    value = shift = 0
    while position < len(view):
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("Expected an encoded protobuf message. Received: truncated bytes")

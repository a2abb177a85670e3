"""Images as PNG, written without TensorFlow, which the process that plays the server lacks."""

import struct
import zlib


def encode_png(width: int, height: int, colour: tuple[int, ...] = (0,)) -> bytes:
    """Writes an image of one colour as PNG.

    Args:
        width: in pixels.
        height: in pixels.
        colour: grey, or red, green and blue, each from 0 to 255.

    Returns:
        The file.
    """
    kind = {1: 0, 3: 2}[len(colour)]
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    rows = (b"\0" + bytes(colour) * width) * height  # each begins with its filter, none
    return encode_png_of(header, zlib.compress(rows, 9))


def encode_png_of(header: bytes, data: bytes) -> bytes:
    """Puts a PNG together of its header and its compressed rows, whether they fit or not."""
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )

"""PNG files of arrays, without a library for images."""

import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 3: 2, 4: 6}


def png_of(image: np.ndarray) -> bytes:
    """Encode an image as PNG.

    Args:
        image: Uint8 `[height, width, channels]`, with 1 channel for gray, 3 for red, green and
            blue, or 4 with alpha.

    Returns:
        The file.
    """
    height, width, channels = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    rows = np.pad(image.reshape(height, -1), ((0, 0), (1, 0)))  # the first byte is the filter
    return png_of_chunks(header, zlib.compress(rows.tobytes()))


def png_of_chunks(header: bytes, data: bytes) -> bytes:
    """Assemble a PNG from its header and its compressed rows, even if they do not match."""
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )

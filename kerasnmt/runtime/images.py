"""Decoding of image files without TensorFlow."""

import io
import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerasnmt.extras import extras

# Larger images are not decoded, because the header of a small file can state any size.
MOST_PIXELS = 1 << 24
_PNG = b"\x89PNG\r\n\x1a\n"
# Shares of red, green and blue in gray, times 2^15, with which TensorFlow decodes a PNG.
_SHARES = np.array([9797, 19234, 3737])


def decoded_images(
    files: Sequence[bytes], height: int, width: int, channels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Decode PNG and JPEG files, and resize the images to one size.

    It needs Pillow, of the extra `images`. A PNG has the pixels that TensorFlow gives it, with two
    exceptions: gray of colors of 16 bits differs by 1, and gray of colors with a gamma (a chunk
    gAMA or sRGB) by more, because TensorFlow mixes them in linear light. The pixels of a JPEG
    differ by a few, because TensorFlow decodes it faster and less exactly. TensorFlow does not turn
    a JPEG of four inks (CMYK) into gray.

    Args:
        files: Contents of the files.
        height: Height of the returned images.
        width: Width of the returned images.
        channels: 1 for gray, 3 for red, green and blue. Other images are converted.

    Returns:
        The images, float32 `[batch, height, width, channels]`, and boolean `[batch]`, True for
        files that could be read; see `kerasnmt.tasks.decoded_images`.
    """
    images = np.zeros((len(files), height, width, channels), "float32")
    readable = np.zeros(len(files), bool)
    for row, file in enumerate(files):
        pixels = _pixels(file, channels)
        if pixels is not None:
            images[row], readable[row] = resized(pixels, height, width), True
    return images, readable


def resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Resize an image by bilinear interpolation with antialiasing, as `tf.image.resize` does.

    Args:
        image: Image, `[old_height, old_width, channels]`.
        height: New height.
        width: New width.

    Returns:
        Float32 `[height, width, channels]`.
    """
    for size in (height, width):
        image = np.swapaxes(_with_rows(image, size) if len(image) != size else image, 0, 1)
    return image.astype("float32")


def _with_rows(image: np.ndarray, count: int) -> np.ndarray:
    """Return an image with another number of rows, which are weighted means of the old rows."""
    step = len(image) / count
    reach = max(step, 1.0)  # distance at which a row has no weight
    rows = []
    for row in range(count):
        center = (row + 0.5) * step - 0.5
        first = max(math.ceil(center - reach), 0)
        last = min(math.floor(center + reach), len(image) - 1)
        weights = 1 - np.abs(np.arange(first, last + 1) - center) / reach
        weights = (weights / weights.sum()).astype("float32")
        rows.append(np.tensordot(weights, image[first : last + 1], 1))
    return np.array(rows, "float32")


def _pixels(file: bytes, channels: int) -> np.ndarray | None:
    """Return the pixels of a file, uint8 `[height, width, channels]`, or None."""
    with extras():
        from PIL import Image
    try:
        with Image.open(io.BytesIO(_without_texts(file)), formats=["PNG", "JPEG"]) as image:
            if math.prod(image.size) > MOST_PIXELS:
                return None
            if image.format == "PNG" and not _is_complete(file):
                return None
            return _converted(image, channels)
    except Exception:  # Pillow raises errors of many kinds for broken files
        return None


def _without_texts(file: bytes) -> bytes:
    """Return a file; a PNG without its texts, which Pillow refuses if they are long."""
    if not file.startswith(_PNG):
        return file
    parts, start = [_PNG], len(_PNG)
    while start < len(file):
        end = start + 12 + int.from_bytes(file[start : start + 4])
        if file[start + 4 : start + 8] not in (b"tEXt", b"zTXt", b"iTXt"):
            parts.append(file[start:end])
        start = end
    return b"".join(parts)


def _is_complete(png: bytes) -> bool:
    """Return whether a PNG has its last chunk, and the necessary chunks have their checksums.

    Pillow does not check those with pixels.
    """
    start = len(_PNG)
    while start < len(png):
        end = start + 8 + int.from_bytes(png[start : start + 4])
        name = png[start + 4 : start + 8]
        is_right = zlib.crc32(png[start + 4 : end]).to_bytes(4) == png[end : end + 4]
        if name == b"IEND" or (name[:1].isupper() and not is_right):
            return is_right
        start = end + 4
    return False


def _converted(image: Any, channels: int) -> np.ndarray:
    """Return the pixels of an image of Pillow, in gray or in color."""
    if image.mode.startswith("I"):  # gray of 16 bits
        pixels = (np.asarray(image) >> 8).astype("uint8")[..., None]
        return np.repeat(pixels, channels, axis=2)
    if channels == 3:
        return np.asarray(image.convert("RGB"))
    if image.format != "PNG":
        image.draft("L", None)
    if image.mode in ("1", "L", "LA"):
        return np.asarray(image.convert("L"))[..., None]
    pixels = np.asarray(image.convert("RGB"))
    return ((pixels @ _SHARES) >> 15).astype("uint8")[..., None]

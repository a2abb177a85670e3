"""Contract of exports that caption images, and its example images."""

import base64
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from kerasnmt.png import png_of, png_of_chunks
from kerasnmt.serving.contract.export_contract import (
    WARMUP_BATCH_SIZES,
    ExportContract,
    FurtherCheck,
    Outputs,
    Row,
    weight_problems,
)


def encode_png(width: int, height: int, colour: tuple[int, ...] = (0,)) -> bytes:
    """Encode an image of one color as PNG.

    Args:
        width: Width in pixels.
        height: Height in pixels.
        colour: Gray, or red, green and blue, from 0 to 255 each.

    Returns:
        The file as bytes.
    """
    return png_of(np.full((height, width, len(colour)), colour, "uint8"))


_WARMUP_SIDES = (64, 500)  # pixels
_ORDINARY = encode_png(40, 30, (200, 40, 40))
_HUGE = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)


class CaptionContract(ExportContract):
    """Contract of exports that caption images: captions, their scores, and the attention.

    The input contains PNG or JPEG files as bytes. In the examples of a description, they are in
    base64, because JSON has no bytes.
    """

    inputs = ("image",)
    outputs: ClassVar = {
        "serving_default": {"caption": ("string", ("batch",)), "score": ("float32", ("batch",))},
        "attention": {
            "target_tokens": ("string", ("batch", "target_length")),
            "weights": ("float32", ("batch", "target_length", "regions")),
        },
    }
    optional_signatures = frozenset({"attention"})
    answer = "caption"
    row = "image"
    # The examples have several sizes, a gray image, a single pixel, and no image.
    example_rows = (
        (_ORDINARY,),
        (encode_png(64, 64, (30, 60, 200)),),
        (encode_png(300, 200, (128,)),),
        (encode_png(1, 1, (0, 255, 0)),),
        (b"",),
    )
    odd_values: ClassVar = {
        "image": {
            "no bytes": b"",
            "text": b"two dogs run .",
            "bytes that are not UTF-8": b"\xff\xfe\0\0 \xed\xa0\x80",
            "one pixel": encode_png(1, 1, (255, 0, 0)),
            "a line of 1,000 pixels": encode_png(1000, 1, (0, 0, 255)),
            "a grey image": encode_png(64, 64, (90,)),
            "2,000 by 2,000 pixels": encode_png(2000, 2000, (10, 200, 30)),
            "a claim of 60,000 by 60,000 pixels": png_of_chunks(_HUGE, zlib.compress(b"\0" * 99)),
            "the beginning of a PNG": _ORDINARY[:20],
            "a PNG without its end": _ORDINARY[:-24],
            "a PNG with a wrong checksum": _ORDINARY[:50] + b"\0\0\0" + _ORDINARY[53:],
            "the beginning of a JPEG": b"\xff\xd8\xff\xe0\0\x10JFIF\0",
            "a meaningless JPEG": b"\xff\xd8\xff" + bytes(range(256)),
            "a GIF": b"GIF89a\1\0\1\0\0\0\0;",
        }
    }

    def further_examples(self) -> list[Row]:
        """Return a JPEG of random pixels, which TensorFlow encodes."""
        import tensorflow as tf

        photo = np.random.default_rng(1).integers(0, 256, (48, 64, 3), "uint8")
        return [(tf.io.encode_jpeg(photo).numpy(),)]

    def warmup_batches(self) -> Iterator[dict[str, list[bytes]]]:
        """Yield batches of 1, 8 and 64 images of two sizes."""
        for size in WARMUP_BATCH_SIZES:
            for side in _WARMUP_SIDES:
                yield {"image": [encode_png(side, side, (200, 120, 40))] * size}

    def further_checks(self) -> dict[str, FurtherCheck]:
        """Return the check of `attention`."""
        return {"attention": self._check_attention}

    def to_json(self, value: bytes) -> str:
        """Return an image as base64."""
        return base64.b64encode(value).decode()

    def from_json(self, value: str) -> bytes:
        """Return an image from base64.

        Raises:
            ValueError: If the text is not base64.
        """
        return base64.b64decode(value, validate=True)

    def _check_attention(
        self, _: Outputs, attention: Outputs, description: Mapping[str, Any]
    ) -> tuple[list[str], str]:
        real = attention["target_tokens"] != b""
        regions = np.ones_like(attention["weights"][:, 0], bool)
        problems = weight_problems(attention["weights"], real, regions)
        if (real[:, 1:] & ~real[:, :-1]).any():
            problems.append("target_tokens has an empty string before a token")
        return problems, "weights sum to at most 1 over the regions, 0 on padding"

"""Images without TensorFlow are those with TensorFlow."""

import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, PngImagePlugin

from kerasnmt.png import png_of
from kerasnmt.runtime import images
from kerasnmt.runtime.images import resized
from kerasnmt.serving.contract.caption_contract import CaptionContract
from kerasnmt.tasks.decoded_images import decoded_images

SIZE = 7, 5
RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (*SIZE, 4), "uint8")
LONG_TEXT = PngImagePlugin.PngInfo()
LONG_TEXT.add_itxt("XML:com.adobe.xmp", "x" * 2_000_000, zip=True)


def saved(mode, **options):
    file = io.BytesIO()
    image = Image.fromarray(COLOUR[..., :3]).convert(mode)
    image.save(file, options.pop("format", "PNG"), **options)
    return file.getvalue()


PNG = {
    **{f"{channels} channels": png_of(COLOUR[..., :channels]) for channels in (1, 3, 4)},
    **{
        f"{channels} channels of 16 bits": tf.io.encode_png(
            RNG.integers(0, 1 << 16, (*SIZE, channels), "uint16")
        ).numpy()
        for channels in (1, 2, 3, 4)
    },
    "1 bit": saved("1"),
    "gray with alpha": saved("LA"),
    "a palette": saved("P"),
    "a palette with a transparent color": saved("P", transparency=3),
    "a transparent gray": saved("L", transparency=7),
    "a long text": saved("RGB", pnginfo=LONG_TEXT),
    "interlaced": saved("RGB", interlace=1),
}


def both(files, height=SIZE[0], width=SIZE[1], channels=3):
    found, readable = images.decoded_images(files, height, width, channels)
    assert (found.dtype, readable.dtype) == ("float32", "bool")
    expected = decoded_images(tf.constant(files, tf.string), height, width, channels)
    assert readable.tolist() == expected[1].numpy().tolist()
    return found, expected[0].numpy(), readable


@pytest.mark.parametrize("channels", [1, 3])
def test_each_png_has_the_same_pixels(channels):
    found, expected, readable = both([*PNG.values()], channels=channels)
    assert readable.all() and found.std() > 50
    # TensorFlow makes gray of colors of 16 bits before it drops their lower half.
    below = [channels == 1 and name[1:] == " channels of 16 bits" for name in PNG]
    np.testing.assert_array_equal(found[~np.array(below)], expected[~np.array(below)])
    np.testing.assert_allclose(found, expected, atol=1)


def test_pixels_by_hand():
    found, _ = images.decoded_images([png_of(np.uint8([[[10, 20, 30]]]))], 1, 1, 1)
    assert found.tolist() == [[[[int(0.299 * 10 + 0.587 * 20 + 0.114 * 30)]]]]


def test_resizing():
    """The mean of two rows; a row between two rows; and any sizes, as TensorFlow resizes."""
    rows = np.float32([[[0]], [[100]]])
    assert resized(rows, 1, 1).tolist() == [[[50]]]
    np.testing.assert_allclose(resized(rows, 4, 1).ravel(), [0, 25, 75, 100], rtol=1e-6)
    for old_height, old_width, height, width in RNG.integers(1, 40, (50, 4)).tolist():
        image = RNG.integers(0, 256, (old_height, old_width, 3), "uint8")
        expected = tf.image.resize(image, (height, width), antialias=True)
        np.testing.assert_allclose(resized(image, height, width), expected, atol=1e-3)
    np.testing.assert_array_equal(resized(image, old_height, old_width), image)


@pytest.mark.parametrize("channels", [1, 3])
def test_each_jpeg_has_nearly_the_same_pixels(channels):
    kinds = [("RGB", {}), ("RGB", {"progressive": True}), ("L", {}), ("CMYK", {})]
    files = [saved(mode, format="JPEG", quality=75, **options) for mode, options in kinds]
    files = files[: 3 if channels == 1 else 4]  # TensorFlow reads no gray from CMYK
    found, expected, readable = both(files, channels=channels)
    assert readable.all()
    assert np.abs(found - expected).mean() < 2 and np.abs(found - expected).max() <= 12


def test_what_cannot_be_read():
    png, jpeg = PNG["3 channels"], saved("RGB", format="JPEG")
    cut = [file[:-count] for file in (png, jpeg) for count in range(1, len(file), 9)]
    odd = [*CaptionContract().odd_values["image"].values()]
    found, expected, readable = both([png, *cut, *odd, png])
    assert readable[[0, -1]].all() and np.count_nonzero(readable) == 6
    np.testing.assert_allclose(found[~readable], 0)
    np.testing.assert_allclose(found, expected, atol=1e-3)
    flipped = [bytes([*png[:place], one ^ 4, *png[place + 1 :]]) for place, one in enumerate(png)]
    *_, readable = both(flipped)
    assert not readable.any()


def test_no_files():
    found, readable = images.decoded_images([], 4, 6, 3)
    assert found.shape == (0, 4, 6, 3) and readable.shape == (0,)

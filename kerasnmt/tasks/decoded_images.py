"""Decoding of image files in a graph."""

import tensorflow as tf

# Larger images are not decoded, because the header of a small file can state any size.
MOST_PIXELS = 1 << 24

_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"


def decoded_images(
    files: tf.Tensor, height: int, width: int, channels: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decode PNG and JPEG files, and resize the images to one size.

    A file that cannot be read does not fail its batch: a dataset that ignores errors decodes each
    file. All other ops of TensorFlow raise an error for a broken image.

    Args:
        files: Contents of the files, string `[batch]` with any bytes.
        height: Height of the returned images.
        width: Width of the returned images.
        channels: 1 for gray, 3 for red, green and blue. Other images are converted.

    Returns:
        The images, float32 `[batch, height, width, channels]` from 0 to 255, resized by bilinear
        interpolation with antialiasing; and boolean `[batch]`, True for files that could be read,
        which are complete PNG or JPEG files with at most 2^24 pixels. Other images are black.
    """

    def decode(file: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        is_jpeg = tf.strings.substr(file, 0, len(_JPEG)) == _JPEG
        is_png = tf.strings.substr(file, 0, len(_PNG)) == _PNG
        size = tf.cond(is_jpeg, lambda: tf.io.extract_jpeg_shape(file)[:2], lambda: _size(file))
        pixels = tf.reduce_prod(tf.cast(size, tf.float32))
        with tf.control_dependencies(
            [
                tf.debugging.Assert(is_jpeg | is_png, ["neither PNG nor JPEG"]),
                tf.debugging.Assert(pixels <= MOST_PIXELS, ["too many pixels"]),
            ]
        ):
            image = tf.io.decode_image(file, channels, expand_animations=False)
        image.set_shape([None, None, channels])
        return tf.image.resize(image, (height, width), antialias=True), tf.constant(True)

    nothing = tf.zeros([height, width, channels]), tf.constant(False)
    nothing = tf.data.Dataset.from_tensors(nothing)

    def one(file: tf.Tensor) -> tf.data.Dataset:
        read = tf.data.Dataset.from_tensors(file).map(decode).ignore_errors()
        return read.concatenate(nothing).take(1)

    # An additional file makes sure that empty inputs have a batch too.
    files = tf.concat([files, [""]], axis=0)
    rows = tf.data.Dataset.from_tensor_slices(files).flat_map(one)
    images, readable = rows.batch(tf.size(files, tf.int64)).get_single_element()
    images.set_shape([None, height, width, channels])
    return images[:-1], readable[:-1]


def _size(png: tf.Tensor) -> tf.Tensor:
    """Return the width and height from the header of a PNG, int32 `[2]`."""
    return tf.io.decode_raw(tf.strings.substr(png, 16, 8), tf.int32, little_endian=False)

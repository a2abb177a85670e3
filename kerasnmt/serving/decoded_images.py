"""Images from the bytes of files, in graph."""

import tensorflow as tf

# Of more pixels than that nothing is decoded: a file of some kilobytes can claim any number.
MOST_PIXELS = 1 << 24

_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"


def decoded_images(
    files: tf.Tensor, height: int, width: int, channels: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Decodes PNG and JPEG, and resizes what they show to one size.

    A file that cannot be read fails itself alone, not its batch. So each is decoded by a dataset of
    its own, which ignores errors: no other op of TensorFlow decodes and does not raise.

    Args:
        files: string `[batch]`, any bytes.
        height: of the images that are returned.
        width: likewise.
        channels: 1 for grey, 3 for red, green and blue; files of another kind are converted.

    Returns:
        float32 `[batch, height, width, channels]` from 0 to 255, stretched to this size where it is
        another, bilinearly and without aliases; and boolean `[batch]`, which files could be read:
        those that are whole, are PNG or JPEG, and have at most 2^24 pixels. The others are black.
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

    # One more than there are, so that there is a batch where there are none.
    files = tf.concat([files, [""]], axis=0)
    rows = tf.data.Dataset.from_tensor_slices(files).flat_map(one)
    images, readable = rows.batch(tf.size(files, tf.int64)).get_single_element()
    images.set_shape([None, height, width, channels])
    return images[:-1], readable[:-1]


def _size(png: tf.Tensor) -> tf.Tensor:
    """Width and height in the header of a PNG, int32 `[2]`."""
    return tf.io.decode_raw(tf.strings.substr(png, 16, 8), tf.int32, little_endian=False)

"""Batches of images and of ids of captions."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasnmt.columns import as_list
from kerasnmt.data.rows import batches_of_rows
from kerasnmt.sizes import check_size
from kerasnmt.text import Tokenizer
from kerasnmt.text.targets import decoder_inputs, padded, with_end


def caption_batches(
    pairs: Sequence[tuple[np.ndarray, str]],
    tokenizer: Tokenizer,
    *,
    batch_size: int = 32,
    shuffle: bool = True,
    seed: int | None = None,
) -> tf.data.Dataset:
    """Tokenize captions, and batch them with their images for `fit`.

    All images are kept in memory, with their dtype.

    ```python
    pairs = [(scene.image, scene.captions["en"].text) for scene in builtin_scenes(6000)]
    tokenizer = WordTokenizer.train([caption for _, caption in pairs], vocabulary_size=19)
    model = show_attend_tell_lstm(tokenizer, image_size=64)
    model.compile("adam")
    model.fit(caption_batches(pairs, tokenizer, seed=1), epochs=10, shuffle=False)
    ```

    Args:
        pairs: Tuples that start with an image, uint8 or float from 0 to 255
            `[height, width, channels]`, and its caption. All images have the same shape. If an
            image has several captions, there is a tuple for each of them.
        tokenizer: Tokenizer of the captions.
        batch_size: Number of images in a batch.
        shuffle: Whether to shuffle in each epoch.
        seed: Seed of the whole sequence of epochs.

    Returns:
        A dataset of `(inputs, targets, sample_weight)` with known cardinality, right-padded with 0
        to the longest caption of the batch.

        - `inputs` is a dict of `images`, `[batch, height, width, channels]`, and `target_ids`,
          int32 `[batch, target_length]`, which start with the start token.
        - `targets`, int32 `[batch, target_length]`, are `target_ids` shifted by one position, and
          end with the end token.
        - `sample_weight`, float32 `[batch, target_length]`, is 1 for tokens and 0 for padding.

    Raises:
        ValueError: If there are no pairs, a pair has another form, the shapes of the images differ,
            or `batch_size` is out of range.
    """
    check_size("batch_size", batch_size)
    images, captions = _columns(pairs)
    ids = with_end(tokenizer.tokenize(captions))

    def batch(rows: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
        targets = padded(tf.gather(ids, rows))
        target_ids = decoder_inputs(targets, tokenizer.vocabulary_size)
        inputs = {"images": tf.gather(images, rows), "target_ids": target_ids}
        return inputs, targets, tf.cast(targets != 0, tf.float32)

    return batches_of_rows(len(captions), batch, batch_size, shuffle, seed)


def _columns(pairs: Sequence[tuple[np.ndarray, str]]) -> tuple[tf.Tensor, list[str]]:
    images, captions = [], []
    for pair in as_list("pairs", pairs, "pairs"):
        image, caption = pair[:2] if isinstance(pair, tuple | list) else (None, None)
        if not (hasattr(image, "shape") and len(image.shape) == 3 and isinstance(caption, str)):
            raise ValueError(
                "Expected tuples of an image, an array [height, width, channels], and a caption. "
                f"Received: {pair!r:.200}."
            )
        images.append(image)
        captions.append(caption)
    shapes = sorted({tuple(image.shape) for image in images})
    if len(shapes) != 1:
        raise ValueError(
            "Expected at least one pair, and images of the same shape. Received: shapes "
            f"{shapes}. Resize the images, for example with tf.image.resize."
        )
    with tf.device("CPU"):
        return tf.constant(np.stack(images)), captions

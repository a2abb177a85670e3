"""The graph that `caption` runs and `export` writes: images in, captions out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.decoding import SearchOptions
from kerasnmt.ids import PAD_ID
from kerasnmt.serving.contract.caption_contract import CaptionContract, encode_png
from kerasnmt.serving.contract.export_contract import decode
from kerasnmt.serving.export.decoded_images import decoded_images
from kerasnmt.serving.export.stored_weights import StoredWeights
from kerasnmt.serving.export.warmup import WARMUP_BATCH_SIZES, WarmupRequest
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend

_IMAGE = (tf.TensorSpec([None], tf.string, name="image"),)
_WARMUP_SIDES = (64, 500)  # pixels


class CaptionModule(tf.Module):
    """A captioning model with its tokenizer and fixed search options.

    Each signature takes `image`, string `[batch]`, the bytes of PNG or JPEG files, and processes
    every row on its own: the other rows change nothing. Images of another size are stretched to
    the model's size. A file that `decoded_images` cannot read gets an empty caption with score 0,
    and the other rows are answered.

    - `serving_default` returns `caption`, string `[batch]`, and `score`, float32 `[batch]`: the
      log-probability divided by the length penalty.
    - `attention` returns, of the same captions, `target_tokens`, string `[batch, target_length]`,
      with the end token, padded with empty strings, and `weights`, float32 `[batch, target_length,
      regions]`, padded with 0. The regions are in row-major order from the top. The description
      gives the number of rows and columns as `grid`.

    Args:
        model: A `kerasnmt.models.CaptionModel` with a tokenizer.
        weights: The number format of the stored weights; see `kerasnmt.serving.StoredWeights`.
        **options: Options of `kerasnmt.decoding.SearchOptions`.

    Raises:
        ValueError: If an option is out of range, or Keras does not run on TensorFlow.
    """

    def __init__(self, model: keras.Model, *, weights: str = "float32", **options) -> None:
        super().__init__(name=model.name)
        need_tensorflow_backend()
        self._search_options = SearchOptions.from_keywords(options)
        self.tokenizer = model.target_tokenizer
        self.image_shape = list(model.encoder.image_shape)
        self.grid = list(model.encoder.grid)
        # TensorFlow's own variables; see `TextModule`.
        self._weights = StoredWeights(model, weights)
        self._search = self._weights.applied(model.search)

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, tf.Tensor]]]:
        """The traced functions by the names under which they are served."""
        return {"serving_default": self.serving_default, "attention": self.attention}

    @property
    def saved(self) -> tf.Module:
        """The objects that an export tracks; see `TextModule.saved`."""
        saved = tf.Module(name=self.name)
        saved.weights = self._weights
        saved.tokenizer = self.tokenizer
        return saved

    @property
    def description(self) -> dict[str, Any]:
        """Facts for JSON that a client cannot read from the signatures."""
        return {
            "model": self.name,
            **asdict(self._search_options),
            "weights": self._weights.kind,
            "target_kind": self.tokenizer.kind,
            "image_shape": [*self.image_shape],
            "grid": [*self.grid],
        }

    @tf.function(input_signature=_IMAGE, autograph=False)
    def serving_default(self, image: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the caption of each image and its score."""
        readable, found = self._find(image)
        caption = self.tokenizer.detokenize(found.ids[:, 0])
        return {
            "caption": tf.where(readable, caption, ""),
            "score": tf.where(readable, found.scores[:, 0], 0.0),
        }

    @tf.function(input_signature=_IMAGE, autograph=False)
    def attention(self, image: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the tokens of each caption and their attention weights over the regions."""
        readable, found = self._find(image, with_records=True)
        ids = tf.where(readable[:, None], found.ids[:, 0], PAD_ID)
        length = tf.reduce_max(tf.math.count_nonzero(ids, axis=1))
        ids = ids[:, :length]
        weights = found.records["weights"][:, 0, :length]
        return {
            "target_tokens": self.tokenizer.tokens(ids),
            "weights": tf.where(ids[:, :, None] == PAD_ID, 0.0, weights),
        }

    def _find(self, image: tf.Tensor, with_records: bool = False) -> tuple[tf.Tensor, Any]:
        """Return which images can be read, boolean `[batch]`, and the result of the search."""
        images, readable = decoded_images(image, *self.image_shape)
        found = self._search(
            {"images": images}, with_records=with_records, **asdict(self._search_options)
        )
        return readable, found

    def caption(self, images: Sequence[Any], *, batch_size: int = 64) -> list[str]:
        """Caption images; see `kerasnmt.models.CaptionModel.caption`."""
        if batch_size < 1:
            raise ValueError(f"Expected batch_size >= 1. Received: batch_size={batch_size}")
        captions = []
        for start in range(0, len(images), batch_size):
            files = [_file(image) for image in images[start : start + batch_size]]
            captions += map(decode, self.serving_default(tf.constant(files))["caption"].numpy())
        return captions

    def examples(self) -> dict[str, list[str]]:
        """Caption a few images, so that the check of an export can compare its answers."""
        files = [file for (file,) in CaptionContract.example_rows]
        photo = np.random.default_rng(1).integers(0, 256, (48, 64, 3), "uint8")
        files.append(tf.io.encode_jpeg(photo).numpy())
        return {
            "images": [*map(CaptionContract().to_json, files)],
            "captions": self.caption(files),
        }

    def warmup_requests(self) -> Iterator[WarmupRequest]:
        """Yield requests of several sizes, which a server runs before it reports ready."""
        for signature in self.signatures:
            for size in WARMUP_BATCH_SIZES:
                for side in _WARMUP_SIDES:
                    file = encode_png(side, side, (200, 120, 40))
                    yield WarmupRequest(signature, {"image": [file] * size})


def _file(image: Any) -> bytes:
    """Return the bytes of an image file, or encode an array as one."""
    if isinstance(image, bytes):
        return image
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in (1, 3, 4):
        raise ValueError(
            "Expected each image as the bytes of a PNG or JPEG file, or as an array uint8 "
            f"[height, width, channels]. Received: {type(image).__name__} of dtype {array.dtype} "
            f"and shape {array.shape}."
        )
    return tf.io.encode_png(array).numpy()

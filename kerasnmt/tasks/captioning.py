"""Task of models that caption images."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.decoding import Hypotheses, SearchOptions
from kerasnmt.ids import PAD_ID
from kerasnmt.tasks.decoded_images import decoded_images
from kerasnmt.tasks.search_task import SearchTask
from kerasnmt.tasks.task import Steps


class CaptioningTask(SearchTask):
    """Task that captions images.

    A request has the field `image`, string `[batch]`, the contents of PNG or JPEG files. The
    caption of a row does not depend on other rows. Images of another size are stretched to the
    model's size. A file that `decoded_images` cannot read has an empty caption with the score 0.

    The signatures are:

    - `serving_default` returns `caption`, string `[batch]`, and `score`, float32 `[batch]`, the
      log-probability divided by the length penalty.
    - `attention` returns `target_tokens` of the same captions, string `[batch, target_length]`,
      with the end token and padded with empty strings, and `weights`, float32
      `[batch, target_length, regions]`, padded with 0. The regions are sorted row by row from the
      top. `grid` in the description contains the numbers of rows and columns. A model without
      attention does not have this step.

    An export does not have the steps `explore` and `inspect`; see `SearchTask`.

    Args:
        model: A `kerasnmt.models.CaptionModel` with a tokenizer.
        applied: See `Task`.
        **options: Options of `kerasnmt.decoding.SearchOptions`.

    Raises:
        ValueError: If the model has no tokenizer, an option is out of range, or the Keras backend
            is not TensorFlow or JAX.
    """

    fields = ("image",)

    def __init__(
        self,
        model: keras.Model,
        *,
        applied: Callable[[Callable], Callable] | None = None,
        **options,
    ) -> None:
        super().__init__(model, applied)
        self.options = SearchOptions.from_keywords(options)
        self.tokenizer = model.target_tokenizer

    @property
    def description(self) -> dict[str, Any]:
        """Facts that the signatures do not show, as values for JSON."""
        return {
            "model": self.model.name,
            **asdict(self.options),
            "target_kind": self.tokenizer.kind,
            "image_shape": [*self.model.encoder.image_shape],
            "grid": [*self.model.encoder.grid],
        }

    @property
    def assets(self) -> list[Any]:
        """Tokenizers and tables that an export must track."""
        return [self.tokenizer]

    @cached_property
    def exported(self) -> dict[str, Steps]:
        """Steps of each signature; see `Task`."""
        steps = {"serving_default": Steps(self.fields, self._read, self._searcher(), self._best)}
        if self.model.has_attention:
            search = self._searcher(with_records=True)
            steps["attention"] = Steps(self.fields, self._read, search, self._attended)
        return steps

    @cached_property
    def local(self) -> dict[str, Steps]:
        """Steps for questions about one image; see `SearchTask`."""
        return self.questions

    def _read(self, image: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        images, readable = decoded_images(image, *self.model.encoder.image_shape)
        return {"inputs": {"images": images}}, readable

    def _searcher(self, with_records: bool = False) -> Callable[[dict[str, Any]], Hypotheses]:
        search = self.applied(self.model.search)
        return lambda batch: search(
            batch["inputs"], with_records=with_records, **asdict(self.options)
        )

    def _best(self, hypotheses: Hypotheses, readable: tf.Tensor) -> dict[str, tf.Tensor]:
        caption = self.tokenizer.detokenize(hypotheses.ids[:, 0])
        return {
            "caption": tf.where(readable, caption, ""),
            "score": tf.where(readable, hypotheses.scores[:, 0], 0.0),
        }

    def _texts(self, ids: tf.Tensor, readable: tf.Tensor) -> tf.Tensor:
        rows = tf.reshape(ids, [-1, tf.shape(ids)[-1]])
        return tf.reshape(self.tokenizer.detokenize(rows), tf.shape(ids)[:2])

    def _tokens(self, ids: tf.Tensor, readable: tf.Tensor) -> tf.Tensor:
        rows = tf.reshape(ids, [-1, tf.shape(ids)[-1]])
        return tf.reshape(self.tokenizer.tokens(rows), tf.shape(ids))

    def _source_tokens(self, readable: tf.Tensor) -> dict[str, tf.Tensor]:
        rows, columns = self.model.encoder.grid
        names = [
            f"{row},{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)
        ]
        return {"source_tokens": tf.tile([names], [tf.shape(readable)[0], 1])}

    def _is_empty(self, readable: tf.Tensor) -> tf.Tensor:
        return tf.logical_not(readable)

    def _attended(self, hypotheses: Hypotheses, readable: tf.Tensor) -> dict[str, tf.Tensor]:
        ids = tf.where(readable[:, None], hypotheses.ids[:, 0], PAD_ID)
        length = tf.reduce_max(tf.math.count_nonzero(ids, axis=1))
        ids = ids[:, :length]
        weights = hypotheses.records["weights"][:, 0, :length]
        return {
            "target_tokens": self.tokenizer.tokens(ids),
            "weights": tf.where(ids[:, :, None] == PAD_ID, 0.0, weights),
        }

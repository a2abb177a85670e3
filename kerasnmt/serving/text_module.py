"""Text in, text out: the graph that `translate` runs and `export` writes."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend

# What is served for a hypothesis that does not exist: finite, because JSON knows no infinity.
_NO_SCORE = -1e9

_TEXT = (tf.TensorSpec([None], tf.string, name="text"),)


class TextModule(tf.Module):
    """A model between its tokenizers, with its search options fixed.

    Each signature takes `text`, string `[batch]`, any bytes, and treats every row alone: padding
    and neighbours change nothing. A text without tokens has an empty translation with score 0. A
    text of more than `max_length` tokens, the end token included, is cut.

    - `serving_default`: `translation` string `[batch]`; `score` float32 `[batch]`,
      log-probability divided by the length penalty.
    - `n_best`: `translations` string and `scores` float32 `[batch, beam]`, best first; where there
      are fewer, an empty text and -1e9.
    - `attention`: of the best translation, `source_tokens` string `[batch, source]`,
      `target_tokens` string `[batch, target]`, `weights` float32 `[batch, target, source]`; tokens
      include the end token and are padded with empty strings, weights with 0. A model without
      attention has no such signature.

    Args:
        model: a `kerasnmt.models.Seq2Seq` with tokenizers.
        beam_size: 1 is greedy search.
        length_penalty: see `kerasnmt.decoding.length_penalty`.
        max_length: most tokens of a source or a translation, the end token included.

    Raises:
        ValueError: the model has no tokenizers, an option is out of range, or Keras does not run
            on TensorFlow.
    """

    def __init__(
        self,
        model: keras.Model,
        *,
        beam_size: int = 5,
        length_penalty: float = 0.6,
        max_length: int = 100,
    ) -> None:
        super().__init__(name=model.name)
        need_tensorflow_backend()
        if model.source_tokenizer is None:
            raise ValueError(
                "Expected a model with tokenizers, to take text. Received: a model made of "
                "vocabulary sizes. Make it with tokenizers, or feed token ids to model.search."
            )
        if beam_size < 1 or length_penalty < 0 or max_length < 2:
            raise ValueError(
                "Expected beam_size >= 1, length_penalty >= 0 and max_length >= 2. Received: "
                f"beam_size={beam_size}, length_penalty={length_penalty}, max_length={max_length}"
            )
        self.beam_size = beam_size
        self.length_penalty = length_penalty
        self.max_length = max_length
        self.source_tokenizer = model.source_tokenizer
        self.target_tokenizer = model.target_tokenizer
        # TensorFlow's own variables: a server restores those it finds here, and finds them through
        # no Keras layer. The model itself is not tracked, so its optimizer stays out.
        self._weights = [weight.value for weight in model.weights]
        self._search = model.search
        if not model.has_attention:
            self.attention = None  # in place of the function, which an export would trace and write

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, tf.Tensor]]]:
        """The traced functions by the names under which they are served."""
        signatures = {"serving_default": self.serving_default, "n_best": self.n_best}
        return signatures | ({"attention": self.attention} if self.attention else {})

    @property
    def description(self) -> dict[str, Any]:
        """What a client cannot read from the signatures, fit for JSON."""
        return {
            "model": self.name,
            "beam_size": self.beam_size,
            "length_penalty": self.length_penalty,
            "max_length": self.max_length,
            "source_kind": self.source_tokenizer.kind,
            "target_kind": self.target_tokenizer.kind,
        }

    @tf.function(input_signature=_TEXT, autograph=False)
    def serving_default(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: the best translation of each text and its score."""
        source_ids, empty = self._source(text)
        found = self._find(source_ids)
        translation = self.target_tokenizer.detokenize(found.ids[:, 0])
        return {
            "translation": tf.where(empty, "", translation),
            "score": tf.where(empty, 0.0, found.scores[:, 0]),
        }

    @tf.function(input_signature=_TEXT, autograph=False)
    def n_best(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: all translations of the beam and their scores, best first."""
        source_ids, empty = self._source(text)
        found = self._find(source_ids, n_best=self.beam_size)
        flat = tf.reshape(found.ids, [-1, self.max_length])
        translations = tf.reshape(self.target_tokenizer.detokenize(flat), [-1, self.beam_size])
        only_first = tf.constant([[0.0] + [_NO_SCORE] * (self.beam_size - 1)])
        return {
            "translations": tf.where(empty[:, None], "", translations),
            "scores": tf.where(empty[:, None], only_first, found.scores),
        }

    @tf.function(input_signature=_TEXT, autograph=False)
    def attention(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translate: the tokens of both sides and the weights between them."""
        source_ids, empty = self._source(text)
        found = self._find(source_ids, with_records=True)
        target_ids = tf.where(empty[:, None], PAD_ID, found.ids[:, 0])
        weights = tf.where(empty[:, None, None], 0.0, found.records["weights"][:, 0])
        length = tf.reduce_max(tf.math.count_nonzero(target_ids, axis=1), keepdims=False)
        return {
            "source_tokens": self.source_tokenizer.tokens(source_ids),
            "target_tokens": self.target_tokenizer.tokens(target_ids[:, :length]),
            "weights": weights[:, :length],
        }

    @tf.function(input_signature=_TEXT, autograph=False)
    def source_lengths(self, text: tf.Tensor) -> tf.Tensor:
        """Count the tokens of each text, the end token included: int32 `[batch]`, before a cut.

        Not served; for clients in Python, which warn where a text is cut.
        """
        return tf.cast(self.source_tokenizer.tokenize(text).row_lengths(), tf.int32) + 1

    def _source(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Tokenize: ids `[batch, length]` with their end token, and which rows hold no text."""
        ids = self.source_tokenizer.tokenize(text)
        empty = ids.row_lengths() == 0
        ids = ids[:, : self.max_length - 1]
        end = tf.fill([ids.nrows(), 1], END_ID)
        ids = tf.concat([ids, end], axis=1)
        # A batch of no texts has no longest one, and loops over a length of 0 fail.
        length = tf.maximum(tf.reduce_max(ids.row_lengths()), 1)
        return ids.to_tensor(PAD_ID, shape=tf.stack([ids.nrows(), length])), empty

    def _find(self, source_ids: tf.Tensor, **options) -> Any:
        return self._search(
            source_ids,
            beam_size=self.beam_size,
            length_penalty=self.length_penalty,
            max_length=self.max_length,
            **options,
        )

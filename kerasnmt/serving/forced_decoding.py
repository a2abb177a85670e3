"""What a model says of translations that it is given."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.serving.like_lengths import like_lengths
from kerasnmt.serving.sentence_attention import SentenceAttention
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend

_TEXTS = (tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.string))


class ForcedDecoding:
    """Run a model over pairs of a source and its given translation, in batches, in order.

    A model that copies hears which words outside the vocabulary are those of the source.

    Args:
        model: a `kerasnmt.models.SearchModel` with tokenizers.

    Raises:
        ValueError: Keras does not run on TensorFlow.
    """

    def __init__(self, model: Any) -> None:
        need_tensorflow_backend()
        self._model = model
        # Each is traced when it is first asked for.
        self._attend = tf.function(self._attention_of, input_signature=_TEXTS, autograph=False)
        self._score = tf.function(self._score_of, input_signature=_TEXTS, autograph=False)

    def attention(
        self, sources: Sequence[str], targets: Sequence[str], *, batch_size: int = 64
    ) -> list[SentenceAttention]:
        """Return the tokens of each pair and the weights between them.

        Of a pointer-generator also the probability that each token is generated, not copied.

        Args:
            sources: one sentence each.
            targets: their translations.
            batch_size: number of pairs at once.

        Raises:
            ValueError: there are not as many targets as sources, `batch_size` is below 1, or the
                model has no attention.
        """
        return self._run(self._attend, SentenceAttention.of_batch, sources, targets, batch_size)

    def score(
        self, sources: Sequence[str], targets: Sequence[str], *, batch_size: int = 64
    ) -> list[float]:
        """Return the log-probability of each target, the end token included.

        Args:
            sources: one sentence each.
            targets: their translations.
            batch_size: number of pairs at once.

        Raises:
            ValueError: there are not as many targets as sources, or `batch_size` is below 1.
        """

        def rows(outputs: dict[str, np.ndarray]) -> list[float]:
            return outputs["score"].tolist()

        return self._run(self._score, rows, sources, targets, batch_size)

    def _run(
        self,
        function: Callable[..., dict[str, tf.Tensor]],
        rows: Callable[[dict[str, np.ndarray]], Iterable],
        sources: Sequence[str],
        targets: Sequence[str],
        batch_size: int,
    ) -> list:
        if isinstance(sources, str) or isinstance(targets, str):
            raise ValueError(
                "Expected two lists of texts. Received: one string, "
                f"sources={sources!r:.50}, targets={targets!r:.50}"
            )
        if len(sources) != len(targets):
            raise ValueError(
                "Expected as many targets as sources. "
                f"Received: {len(sources)} sources, {len(targets)} targets."
            )
        if batch_size < 1:
            raise ValueError(f"Expected batch_size >= 1. Received: batch_size={batch_size}")
        found: list = [None] * len(sources)
        lengths = [
            len(source) + len(target) for source, target in zip(sources, targets, strict=True)
        ]
        for places in like_lengths(lengths, batch_size):
            batch = ([texts[place] for place in places] for texts in (sources, targets))
            outputs = function(*map(tf.constant, batch))
            outputs = {name: output.numpy() for name, output in outputs.items()}
            for place, answer in zip(places, rows(outputs), strict=True):
                found[place] = answer
        return found

    def _attention_of(self, sources: tf.Tensor, targets: tf.Tensor) -> dict[str, tf.Tensor]:
        inputs, target, unknown_words = self._tokenize(sources, targets)
        source = inputs.get("extended_source_ids", inputs["source_ids"])
        return {
            "source_tokens": self._model.source_tokenizer.tokens(source, unknown_words),
            "target_tokens": self._model.target_tokenizer.tokens(target, unknown_words),
            **self._model.attend(inputs),
        }

    def _score_of(self, sources: tf.Tensor, targets: tf.Tensor) -> dict[str, tf.Tensor]:
        inputs, target, _ = self._tokenize(sources, targets)
        of_tokens = self._model.token_log_probability(inputs, target)
        return {"score": tf.reduce_sum(tf.where(target != PAD_ID, of_tokens, 0.0), axis=1)}

    def _tokenize(
        self, sources: tf.Tensor, targets: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.RaggedTensor | None]:
        """The model's inputs, the ids that it is to predict, and the source's unknown words."""
        source_tokenizer = self._model.source_tokenizer
        target_tokenizer = self._model.target_tokenizer
        inputs, unknown_words = {}, None
        if self._model.copies:
            ids, extended_ids, unknown_words = source_tokenizer.tokenize_source(sources)
            inputs["extended_source_ids"] = _with_end(extended_ids)
            target = _with_end(target_tokenizer.tokenize_target(targets, unknown_words))
        else:
            ids = source_tokenizer.tokenize(sources)
            target = _with_end(target_tokenizer.tokenize(targets))
        inputs["source_ids"] = _with_end(ids)
        # The decoder embeds its inputs, and has embeddings for the vocabulary alone.
        known = tf.where(target < target_tokenizer.vocabulary_size, target, UNKNOWN_ID)
        start = tf.fill([tf.shape(target)[0], 1], START_ID)
        moved = tf.concat([start, known[:, :-1]], axis=1)
        inputs["target_ids"] = tf.where(target != PAD_ID, moved, PAD_ID)
        return inputs, target, unknown_words


def _with_end(ids: tf.RaggedTensor) -> tf.Tensor:
    """Ids `[batch, length]` with their end tokens, padded."""
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1).to_tensor(PAD_ID)

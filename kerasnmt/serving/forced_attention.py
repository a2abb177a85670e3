"""Where a model looks when it is given the translations."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID
from kerasnmt.serving.like_lengths import like_lengths
from kerasnmt.serving.sentence_attention import SentenceAttention
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend

_TEXTS = (tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.string))


class ForcedAttention:
    """Run a model over pairs of a source and its given translation, in batches, in order.

    Args:
        model: a `kerasnmt.models.Seq2Seq` with tokenizers and attention.

    Raises:
        ValueError: Keras does not run on TensorFlow.
    """

    def __init__(self, model: Any) -> None:
        need_tensorflow_backend()

        @tf.function(input_signature=_TEXTS, autograph=False)
        def attend(sources: tf.Tensor, targets: tf.Tensor) -> tuple[tf.Tensor, ...]:
            source_ids = _ids(model.source_tokenizer, sources)
            target = _ids(model.target_tokenizer, targets)
            start = tf.fill([tf.shape(target)[0], 1], START_ID)
            target_ids = tf.where(target != PAD_ID, tf.concat([start, target[:, :-1]], 1), PAD_ID)
            weights = model.attend({"source_ids": source_ids, "target_ids": target_ids})
            source_tokens = model.source_tokenizer.tokens(source_ids)
            return source_tokens, model.target_tokenizer.tokens(target), weights

        self._attend = attend

    def attention(
        self, sources: Sequence[str], targets: Sequence[str], *, batch_size: int = 64
    ) -> list[SentenceAttention]:
        """Return the tokens of each pair and the weights between them.

        Args:
            sources: one sentence each.
            targets: their translations.
            batch_size: number of pairs at once.

        Raises:
            ValueError: there are not as many targets as sources, or `batch_size` is below 1.
        """
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
            outputs = (output.numpy() for output in self._attend(*map(tf.constant, batch)))
            for place, *row in zip(places, *outputs, strict=True):
                found[place] = SentenceAttention.of_row(*row)
        return found


def _ids(tokenizer: Any, texts: tf.Tensor) -> tf.Tensor:
    """Ids `[batch, length]` with their end tokens."""
    ids = tokenizer.tokenize(texts)
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1).to_tensor(PAD_ID)

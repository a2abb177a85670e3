"""Where a model looks when it is given the translations."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.serving.like_lengths import like_lengths
from kerasnmt.serving.sentence_attention import SentenceAttention
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend

_TEXTS = (tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.string))


class ForcedAttention:
    """Run a model over pairs of a source and its given translation, in batches, in order.

    A model that copies hears which words outside the vocabulary are those of the source.

    Args:
        model: a `kerasnmt.models.Seq2Seq` with tokenizers and attention.

    Raises:
        ValueError: Keras does not run on TensorFlow.
    """

    def __init__(self, model: Any) -> None:
        need_tensorflow_backend()

        @tf.function(input_signature=_TEXTS, autograph=False)
        def attend(sources: tf.Tensor, targets: tf.Tensor) -> dict[str, tf.Tensor]:
            source_tokenizer, target_tokenizer = model.source_tokenizer, model.target_tokenizer
            inputs, unknown_words = {}, None
            if model.copies:
                ids, extended_ids, unknown_words = source_tokenizer.tokenize_source(sources)
                source = inputs["extended_source_ids"] = _with_end(extended_ids)
                inputs["source_ids"] = _with_end(ids)
                target = _with_end(target_tokenizer.tokenize_target(targets, unknown_words))
            else:
                source = inputs["source_ids"] = _with_end(source_tokenizer.tokenize(sources))
                target = _with_end(target_tokenizer.tokenize(targets))
            # The decoder embeds its inputs, and has embeddings for the vocabulary alone.
            known = tf.where(target < target_tokenizer.vocabulary_size, target, UNKNOWN_ID)
            start = tf.fill([tf.shape(target)[0], 1], START_ID)
            moved = tf.concat([start, known[:, :-1]], axis=1)
            inputs["target_ids"] = tf.where(target != PAD_ID, moved, PAD_ID)
            return {
                "source_tokens": source_tokenizer.tokens(source, unknown_words),
                "target_tokens": target_tokenizer.tokens(target, unknown_words),
                **model.attend(inputs),
            }

        self._attend = attend

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
            outputs = self._attend(*map(tf.constant, batch))
            outputs = {name: output.numpy() for name, output in outputs.items()}
            for place, attended in zip(places, SentenceAttention.of_batch(outputs), strict=True):
                found[place] = attended
        return found


def _with_end(ids: tf.RaggedTensor) -> tf.Tensor:
    """Ids `[batch, length]` with their end tokens, padded."""
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1).to_tensor(PAD_ID)

"""The attention weights and the scores of given translations."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.serving.client.sentence_attention import SentenceAttention
from kerasnmt.serving.client.translator import like_lengths
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend


class ForcedDecoding:
    """Run a model on sources and their given translations, in batches.

    For a model that copies, words outside the vocabulary get the extended ids of the source.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers.

    Raises:
        ValueError: If Keras does not run on TensorFlow.
    """

    def __init__(self, model: Any) -> None:
        need_tensorflow_backend()
        self._model = model
        texts = [tf.TensorSpec([None], tf.string)] * (3 if model.reads_context else 2)
        # Each function is traced in its first call.
        self._attend = tf.function(self._attention_of, input_signature=texts, autograph=False)
        self._score = tf.function(self._score_of, input_signature=texts, autograph=False)

    def attention(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[SentenceAttention]:
        """Return the tokens of each pair and the attention weights between them.

        The arguments are those of `kerasnmt.models.TranslationModel.align`.

        Returns:
            The attention of each pair, in order. For a pointer-generator it includes the
            probability that each token is generated, not copied.

        Raises:
            ValueError: If the numbers of sources, targets and contexts differ, `batch_size` is
                below 1, or the model has no attention.
        """
        rows = SentenceAttention.of_batch
        return self._run(self._attend, rows, sources, targets, contexts, batch_size)

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[float]:
        """Return the log-probabilities; see `kerasnmt.models.TranslationModel.score`."""

        def rows(outputs: dict[str, np.ndarray]) -> list[float]:
            return outputs["score"].tolist()

        return self._run(self._score, rows, sources, targets, contexts, batch_size)

    def _run(
        self,
        function: Callable[..., dict[str, tf.Tensor]],
        rows: Callable[[dict[str, np.ndarray]], Iterable],
        sources: Sequence[str],
        targets: Sequence[str],
        contexts: Sequence[str] | None,
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
        if (contexts is not None) != self._model.reads_context:
            raise ValueError(
                "Expected contexts for a model that reads them, and for no other. Received: "
                f"{self._model.name} with contexts={'None' if contexts is None else '[…]'}."
            )
        given = [sources, targets] if contexts is None else [sources, targets, contexts]
        if isinstance(contexts, str) or len(given[-1]) != len(sources):
            raise ValueError(
                "Expected a context for each source, empty where there is none. "
                f"Received: contexts={contexts!r:.50} for {len(sources)} sources."
            )
        found: list = [None] * len(sources)
        lengths = [sum(map(len, texts)) for texts in zip(*given, strict=True)]
        for places in like_lengths(lengths, batch_size):
            batch = ([texts[place] for place in places] for texts in given)
            outputs = function(*map(tf.constant, batch))
            outputs = {name: output.numpy() for name, output in outputs.items()}
            for place, answer in zip(places, rows(outputs), strict=True):
                found[place] = answer
        return found

    def _attention_of(self, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        inputs, target, unknown_words = self._tokenize(*texts)
        source = inputs.get("extended_source_ids", inputs["source_ids"])
        return {
            "source_tokens": self._model.source_tokenizer.tokens(source, unknown_words),
            "target_tokens": self._model.target_tokenizer.tokens(target, unknown_words),
            **self._model.attend(inputs),
        }

    def _score_of(self, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        inputs, target, _ = self._tokenize(*texts)
        of_tokens = self._model.token_log_probability(inputs, target)
        return {"score": tf.reduce_sum(tf.where(target != PAD_ID, of_tokens, 0.0), axis=1)}

    def _tokenize(
        self, sources: tf.Tensor, targets: tf.Tensor, *contexts: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.RaggedTensor | None]:
        """Return the model's inputs, the ids to predict, and the unknown words of the source."""
        source_tokenizer = self._model.source_tokenizer
        target_tokenizer = self._model.target_tokenizer
        inputs, unknown_words = {}, None
        names = ("source_ids", "context_ids")[: 1 + len(contexts)]
        if self._model.copies:
            read = source_tokenizer.tokenize_together(sources, *contexts)
            for name, one in zip(names, read, strict=True):
                inputs[name] = _with_end(one.ids)
                inputs[f"extended_{name}"] = _with_end(one.extended_ids)
            unknown_words = read[0].unknown_words
            target = _with_end(target_tokenizer.tokenize_target(targets, unknown_words))
        else:
            for name, texts in zip(names, (sources, *contexts), strict=True):
                inputs[name] = _with_end(source_tokenizer.tokenize(texts))
            target = _with_end(target_tokenizer.tokenize(targets))
        # The decoder embeds its inputs, and has embeddings only for the vocabulary.
        known = tf.where(target < target_tokenizer.vocabulary_size, target, UNKNOWN_ID)
        start = tf.fill([tf.shape(target)[0], 1], START_ID)
        moved = tf.concat([start, known[:, :-1]], axis=1)
        inputs["target_ids"] = tf.where(target != PAD_ID, moved, PAD_ID)
        return inputs, target, unknown_words


def _with_end(ids: tf.RaggedTensor) -> tf.Tensor:
    """Append the end token to ids and pad them: int32 `[batch, length]`."""
    return tf.concat([ids, tf.fill([ids.nrows(), 1], END_ID)], axis=1).to_tensor(PAD_ID)

"""The attention weights and the scores of given translations."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasnmt.ids import PAD_ID
from kerasnmt.serving.client.sentence_attention import SentenceAttention
from kerasnmt.serving.client.translator import like_lengths
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend
from kerasnmt.text.translation_codec import EncodedSource, TranslationCodec


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
        self._codec = TranslationCodec(model.source_tokenizer, model.target_tokenizer, model.copies)
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
        inputs, target, source = self._encode(*texts)
        return {
            "source_tokens": self._codec.source_tokens(source),
            "target_tokens": self._codec.target_tokens(target, source),
            **self._model.attend(inputs),
        }

    def _score_of(self, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
        inputs, target, _ = self._encode(*texts)
        of_tokens = self._model.token_log_probability(inputs, target)
        return {"score": tf.reduce_sum(tf.where(target != PAD_ID, of_tokens, 0.0), axis=1)}

    def _encode(
        self, sources: tf.Tensor, targets: tf.Tensor, *contexts: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor, EncodedSource]:
        """Return the model's inputs, the ids to predict, and the encoded source."""
        texts = dict(zip(("source", "context"), (sources, *contexts), strict=False))
        source = self._codec.encode_source(texts)
        target = self._codec.encode_target(targets, source)
        return *self._codec.teacher_forced(source, target), source

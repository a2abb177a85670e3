"""Task of models that answer questions about stories."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from kerasnmt.ids import FIRST_WORD_ID
from kerasnmt.tasks.search_task import CHOICES
from kerasnmt.tasks.task import Steps, Task
from kerasnmt.text.stories import story_ids
from kerasnmt.text.targets import padded

# Maximum number of sentences for a model without a limit.
_MOST_SENTENCES = 1000


class AnsweringTask(Task):
    """Task that answers questions about stories.

    A request has the fields `story` and `question`, string `[batch]` with any bytes.
    `serving_default` returns `answer`, string `[batch]`, and its log-probability `score`, float32
    `[batch]`. The answer to a row does not depend on padding and other rows. A question without
    words has an empty answer with the score 0.

    A story is one string with one sentence per line, oldest first. So each row consists of two
    strings. TF Serving accepts them in its row format, and can batch rows of several requests
    without padding. A tensor `[batch, sentences]` would need the same width in all requests.

    All sentences of a batch are padded to the longest one, so a long line would cost the other rows
    memory. Therefore, sentences and questions are truncated to their first `max_words` tokens, and
    stories to their last `model.max_sentences` sentences, or 1,000 if the model has no limit.

    An export does not have this step:

    - `inspect` also returns where each hop looked, `weights`, float32 `[batch, hops, sentences]`;
      the tokens of the sentences that were read, `sentences`, string `[batch, sentences]`; and the
      most probable answers, `choice_ids`, `choice_tokens` and `choice_log_probabilities`,
      `[batch, 10]`, best first.

    Args:
        model: A `kerasnmt.models.MemoryNetwork` with tokenizers.
        max_words: Maximum number of tokens of a sentence or question.
        applied: See `Task`.

    Raises:
        ValueError: If the model has no tokenizers, `max_words` is below 1, or the Keras backend is
            not TensorFlow or JAX.
    """

    fields = ("story", "question")

    def __init__(
        self,
        model: keras.Model,
        *,
        max_words: int = 100,
        applied: Callable[[Callable], Callable] | None = None,
    ) -> None:
        super().__init__(model, applied)
        if max_words < 1:
            raise ValueError(f"Expected max_words >= 1. Received: max_words={max_words}")
        self.max_sentences = model.max_sentences or _MOST_SENTENCES
        self.max_words = max_words

    @property
    def description(self) -> dict[str, Any]:
        """Facts that the signatures do not show, as values for JSON."""
        return {
            "model": self.model.name,
            "max_sentences": self.max_sentences,
            "max_words": self.max_words,
            "source_kind": self.model.source_tokenizer.kind,
            "target_kind": self.model.target_tokenizer.kind,
        }

    @property
    def assets(self) -> list[Any]:
        """Tokenizers and tables that an export must track."""
        return [self.model.source_tokenizer, self.model.target_tokenizer]

    @cached_property
    def exported(self) -> dict[str, Steps]:
        """Steps of the signature; see `Task`."""
        run = self.applied(self.model.answer_ids)
        return {"serving_default": Steps(self.fields, self._read, run, self._written)}

    @cached_property
    def local(self) -> dict[str, Steps]:
        """Step for questions about one request; see the class."""
        return {"inspect": Steps(self.fields, self._read, self._inspect, self._inspected)}

    def _read(self, story: tf.Tensor, question: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        tokenizer = self.model.source_tokenizer
        read = story_ids(tokenizer, tf.strings.split(story, "\n"), self.max_sentences)
        question_ids = tokenizer.tokenize(tokenizer.normalize_source(question))
        inputs = {
            "story_ids": padded(read[:, :, : self.max_words]),
            "question_ids": padded(question_ids[:, : self.max_words]),
        }
        return inputs, question_ids.row_lengths() == 0

    def _inspect(self, batch: dict[str, Any]) -> dict[str, Any]:
        log_probabilities, weights = self.applied(self.model.inspect)(batch)
        words = log_probabilities[:, FIRST_WORD_ID:]
        best, ids = ops.top_k(words, min(CHOICES, words.shape[-1]))
        return {
            "weights": weights,
            "choice_ids": ops.cast(ids, "int32") + FIRST_WORD_ID,
            "choice_log_probabilities": best,
            "story_ids": batch["story_ids"],
        }

    def _inspected(self, outputs: dict[str, tf.Tensor], empty: tf.Tensor) -> dict[str, tf.Tensor]:
        ids, choices = outputs["choice_ids"], outputs["choice_log_probabilities"]
        story_ids = outputs["story_ids"]
        words = tf.reshape(story_ids, [-1, tf.shape(story_ids)[-1]])
        words = self.model.source_tokenizer.tokens(words)
        sentences = tf.strings.strip(tf.strings.reduce_join(words, axis=1, separator=" "))
        return {
            **self._written((ids[:, 0], choices[:, 0]), empty),
            "weights": outputs["weights"],
            "sentences": tf.reshape(sentences, tf.shape(story_ids)[:2]),
            "choice_ids": ids,
            "choice_tokens": self.model.target_tokenizer.tokens(ids),
            "choice_log_probabilities": choices,
        }

    def _written(self, best: tuple[tf.Tensor, tf.Tensor], empty: tf.Tensor) -> dict[str, tf.Tensor]:
        ids, score = best
        answer = self.model.target_tokenizer.detokenize(ids[:, None])
        return {"answer": tf.where(empty, "", answer), "score": tf.where(empty, 0.0, score)}

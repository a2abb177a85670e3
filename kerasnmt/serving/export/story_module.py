"""The graph that `answer` runs and `export` writes: story and question in, answer out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.serving.contract.export_contract import decode
from kerasnmt.serving.contract.story_contract import StoryContract
from kerasnmt.serving.export.stored_weights import StoredWeights
from kerasnmt.serving.export.warmup import WARMUP_BATCH_SIZES, WarmupRequest
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend
from kerasnmt.text.stories import story_ids
from kerasnmt.text.targets import padded

_STORY_AND_QUESTION = (
    tf.TensorSpec([None], tf.string, name="story"),
    tf.TensorSpec([None], tf.string, name="question"),
)
_WARMUP_SENTENCES = (1, 10, 50)
# The limit of a model that could read any number of sentences.
_MOST_SENTENCES = 1000


class StoryModule(tf.Module):
    """A memory network with its tokenizers.

    The signature `serving_default` takes `story` and `question`, string `[batch]` with any bytes.
    It returns `answer`, string `[batch]`, and its log-probability `score`, float32 `[batch]`. It
    processes every row on its own: padding and the other rows change nothing. A question without
    words gets an empty answer with score 0.

    A story is one string with one sentence per line, oldest first. So each row is two strings: TF
    Serving accepts them in its row format, and can batch rows of several requests without padding.
    A tensor `[batch, sentences]` would need the same width in all requests.

    All sentences of a batch are padded to the longest one, so a long line would cost the other rows
    memory. Therefore sentences and questions are cut to their first `max_words` tokens. A long
    story is cut to its last sentences: as many as the model can tell apart by age, or 1,000 if the
    model has no ages.

    Args:
        model: A `kerasnmt.models.MemoryNetwork` with tokenizers.
        max_words: Maximum number of tokens of a sentence or question.
        weights: The number format of the stored weights; see `kerasnmt.serving.StoredWeights`.

    Raises:
        ValueError: If the model has no tokenizers, `max_words` is below 1, or Keras does not run on
            TensorFlow.
    """

    def __init__(
        self, model: keras.Model, *, max_words: int = 100, weights: str = "float32"
    ) -> None:
        super().__init__(name=model.name)
        need_tensorflow_backend()
        if model.source_tokenizer is None:
            raise ValueError(
                "Expected a model with tokenizers, to take text. Received: a model made of "
                "vocabulary sizes. Make it with tokenizers, or feed ids to model.answer_ids."
            )
        if max_words < 1:
            raise ValueError(f"Expected max_words >= 1. Received: max_words={max_words}")
        self.source_tokenizer = model.source_tokenizer
        self.target_tokenizer = model.target_tokenizer
        self.max_sentences = model.max_sentences or _MOST_SENTENCES
        self.max_words = max_words
        # TensorFlow's own variables; see `TextModule`.
        self._weights = StoredWeights(model, weights)
        self._answer_ids = self._weights.applied(model.answer_ids)

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, tf.Tensor]]]:
        """The traced functions by the names under which they are served."""
        return {"serving_default": self.serving_default}

    @property
    def saved(self) -> tf.Module:
        """The objects that an export tracks; see `TextModule.saved`."""
        saved = tf.Module(name=self.name)
        saved.weights = self._weights
        saved.tokenizers = [self.source_tokenizer, self.target_tokenizer]
        return saved

    @property
    def description(self) -> dict[str, Any]:
        """Facts for JSON that a client cannot read from the signatures."""
        return {
            "model": self.name,
            "max_sentences": self.max_sentences,
            "max_words": self.max_words,
            "weights": self._weights.kind,
            "source_kind": self.source_tokenizer.kind,
            "target_kind": self.target_tokenizer.kind,
        }

    @tf.function(input_signature=_STORY_AND_QUESTION, autograph=False)
    def serving_default(self, story: tf.Tensor, question: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answer each question from its story."""
        stories = tf.strings.split(story, "\n")
        read = story_ids(self.source_tokenizer, stories, self.max_sentences)
        asked = self.source_tokenizer.tokenize(question)
        ids, score = self._answer_ids(
            {
                "story_ids": padded(read[:, :, : self.max_words]),
                "question_ids": padded(asked[:, : self.max_words]),
            }
        )
        answer = self.target_tokenizer.detokenize(ids[:, None])
        empty = asked.row_lengths() == 0
        return {"answer": tf.where(empty, "", answer), "score": tf.where(empty, 0.0, score)}

    def answer(
        self, stories: Sequence[Sequence[str]], questions: Sequence[str], *, batch_size: int = 64
    ) -> list[str]:
        """Answer questions; see `kerasnmt.models.MemoryNetwork.answer`."""
        if isinstance(questions, str) or any(isinstance(story, str) for story in stories):
            raise ValueError(
                "Expected lists: the sentences of each story, and a question for each story. "
                "Received: a string instead of a list."
            )
        if len(stories) != len(questions):
            raise ValueError(
                "Expected a question for each story. "
                f"Received: {len(stories)} stories, {len(questions)} questions."
            )
        if batch_size < 1:
            raise ValueError(f"Expected batch_size >= 1. Received: batch_size={batch_size}")
        # A sentence becomes one line, even if it contains line breaks.
        lines = ["\n".join(" ".join(one.split()) for one in story) for story in stories]
        answers = []
        for start in range(0, len(questions), batch_size):
            rows = slice(start, start + batch_size)
            found = self.serving_default(
                tf.constant(lines[rows]), tf.constant(list(questions[rows]))
            )
            answers += map(decode, found["answer"].numpy())
        return answers

    def examples(self) -> dict[str, list[str]]:
        """Answer a few questions, so that the check of an export can compare its answers."""
        stories, questions = zip(*StoryContract.example_rows, strict=True)
        found = self.serving_default(tf.constant(stories), tf.constant(questions))
        return {
            "stories": list(stories),
            "questions": list(questions),
            "answers": [*map(decode, found["answer"].numpy())],
        }

    def warmup_requests(self) -> Iterator[WarmupRequest]:
        """Yield requests of several sizes, which a server runs before it reports ready."""
        for size in WARMUP_BATCH_SIZES:
            for sentences in _WARMUP_SENTENCES:
                story = "\n".join(["Mary moved to the bathroom."] * sentences).encode()
                inputs = {"story": [story] * size, "question": [b"Where is Mary?"] * size}
                yield WarmupRequest("serving_default", inputs)

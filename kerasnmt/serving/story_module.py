"""Story and question in, answer out: the graph that `answer` runs and `export` writes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.serving.sentence_attention import decode
from kerasnmt.serving.stored_weights import StoredWeights
from kerasnmt.serving.story_contract import StoryContract
from kerasnmt.serving.tensorflow_backend import need_tensorflow_backend
from kerasnmt.serving.warmup import WARMUP_BATCH_SIZES, WarmupRequest
from kerasnmt.text.stories import padded, story_ids

_STORY_AND_QUESTION = (
    tf.TensorSpec([None], tf.string, name="story"),
    tf.TensorSpec([None], tf.string, name="question"),
)
_WARMUP_SENTENCES = (1, 10, 50)
# Of a story for a model that could read any number of sentences.
_MOST_SENTENCES = 1000


class StoryModule(tf.Module):
    """A memory network behind its tokenizers.

    The signature `serving_default` takes `story` and `question`, string `[batch]`, any bytes, and
    returns `answer`, string `[batch]`, and its log-probability `score`, float32 `[batch]`. Each row
    is treated alone: padding and neighbours change nothing. A question without words has an empty
    answer with score 0.

    A story is one string with its sentences on lines, oldest first. So every row is two strings,
    which TF Serving takes in its row form, and its batching puts rows of several requests together
    without padding them; a tensor `[batch, sentences]` would have to be as wide in all requests.

    All sentences of a batch are padded to its longest. So a long line would cost the others memory,
    and is cut, as a question is: its first `max_words` words are read. Of a long story the last
    sentences are, as many as the model's ages tell apart, or 1,000 where it has none.

    Args:
        model: a `kerasnmt.models.MemoryNetwork` with tokenizers.
        max_words: most tokens of a sentence, and of a question.
        weights: the numbers in which an export stores the weights, see
            `kerasnmt.serving.StoredWeights`.

    Raises:
        ValueError: the model has no tokenizers, `max_words` is below 1, or Keras does not run on
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
        # TensorFlow's own variables, as in `TextModule`.
        self._weights = StoredWeights(model, weights)
        self._answer_ids = self._weights.applied(model.answer_ids)

    @property
    def signatures(self) -> dict[str, Callable[..., dict[str, tf.Tensor]]]:
        """The traced functions by the names under which they are served."""
        return {"serving_default": self.serving_default}

    @property
    def saved(self) -> tf.Module:
        """What an export tracks: all that the signature looks up; see `TextModule.saved`."""
        saved = tf.Module(name=self.name)
        saved.weights = self._weights
        saved.tokenizers = [self.source_tokenizer, self.target_tokenizer]
        return saved

    @property
    def description(self) -> dict[str, Any]:
        """What a client cannot read from the signatures, fit for JSON."""
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
                "Expected lists: of each story its sentences, and a question for each story. "
                "Received: a string in the place of a list."
            )
        if len(stories) != len(questions):
            raise ValueError(
                "Expected a question for each story. "
                f"Received: {len(stories)} stories, {len(questions)} questions."
            )
        if batch_size < 1:
            raise ValueError(f"Expected batch_size >= 1. Received: batch_size={batch_size}")
        # A sentence is one line, whatever spaces it is written with.
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
        """Answer a few questions, for the check of an export to compare with."""
        stories, questions = zip(*StoryContract.example_rows, strict=True)
        found = self.serving_default(tf.constant(stories), tf.constant(questions))
        return {
            "stories": list(stories),
            "questions": list(questions),
            "answers": [*map(decode, found["answer"].numpy())],
        }

    def warmup_requests(self) -> Iterator[WarmupRequest]:
        """Yield requests of several sizes, for a server to send before it is ready."""
        for size in WARMUP_BATCH_SIZES:
            for sentences in _WARMUP_SENTENCES:
                story = "\n".join(["Mary moved to the bathroom."] * sentences).encode()
                inputs = {"story": [story] * size, "question": [b"Where is Mary?"] * size}
                yield WarmupRequest("serving_default", inputs)

"""End-to-end memory network."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerasnmt.ids import FIRST_WORD_ID
from kerasnmt.layers import MemoryHop, VocabularyProjection, build_once
from kerasnmt.models.checks import check_ids, check_names, check_takes_logits, check_vocabulary
from kerasnmt.models.text_model import TextModel


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryNetwork(TextModel):
    """Memory network that answers a question about a story with one word.

        p_i^k = softmax_i(u^kT m_i^k),  o^k = sum_i p_i^k c_i^k,  answer = softmax(W u^{K+1})

    The inputs are a dict:

        {"story_ids": int32 [batch, sentences, words], "question_ids": int32 [batch, words]}

    Both are padded on the right with 0, without end tokens. A sentence of zeros is padding. The
    outputs are logits `[batch, vocabulary]` over all ids of the target tokenizer. The targets of
    training are ids, int32 `[batch]`.

    The model works with every Keras backend. `answer` needs tokenizers, and Keras on TensorFlow or
    JAX. `export` needs TensorFlow. `kerasnmt.zoo.memory_network` creates such a model, and
    `kerasnmt.data.story_batches` creates its inputs.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", equations 1
    to 4. Unlike the paper, the generator adds a bias, like all generators of this library.

    Args:
        memories: Layer of embeddings, such as `kerasnmt.layers.AdjacentMemories`.
        generator: Layer that computes logits from u^{K+1}: `TiedVocabularyProjection`, where W^T is
            C^K, or `VocabularyProjection`.
        source_tokenizer: A `kerasnmt.text` tokenizer of stories and questions, or None if the model
            takes only ids.
        target_tokenizer: A tokenizer that turns an answer into one id, or None for the source
            tokenizer.
        places: Number of places in the memory, or None for no empty places. A short story leaves
            some places empty; see `kerasnmt.layers.MemoryHop`.

    Raises:
        ValueError: If the generator has no softmax, or a tokenizer has more ids than the model.
    """

    pipeline_tag = "question-answering"
    request_fields = ("story", "question")
    takes_arrays = "model.answer_ids"
    takes_requests = "model.answer"

    def __init__(
        self,
        memories: keras.layers.Layer,
        generator: keras.layers.Layer,
        source_tokenizer: Any = None,
        target_tokenizer: Any = None,
        places: int | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if isinstance(generator, VocabularyProjection) and generator.normalizer != "softmax":
            raise ValueError(
                "Expected a generator with the softmax, because the loss is the cross-entropy. "
                f"Received: a generator with normalizer={generator.normalizer!r}."
            )
        self.memories = memories
        self.generator = generator
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer or source_tokenizer
        check_vocabulary("source", source_tokenizer, memories.vocabulary_size)
        check_vocabulary("target", self.target_tokenizer, generator.vocabulary_size)
        self.places = places
        self.hop = MemoryHop(places, dtype=self.dtype_policy, name="hop")
        self.build()

    def build(self, input_shape: Any = None) -> None:
        """Create all weights, whose shapes do not depend on the inputs."""
        units = self.memories.embedding_dim
        build_once(self.memories, None)
        build_once(self.hop, (None, units), (None, None, units), (None, None, units))
        build_once(self.generator, (None, units), tuple(self.memories.last_embeddings.shape))

    def call(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """Predict the answers.

        Args:
            inputs: `story_ids` and `question_ids`; see the class.
            training: Whether the ages of sentences have random noise.

        Returns:
            Logits `[batch, vocabulary]`.
        """
        state, _ = self._read(inputs, training)
        return self.generator(state, self.memories.last_embeddings)

    def attend(self, inputs: dict[str, Any]) -> Any:
        """Return the attention weights of each hop.

        Args:
            inputs: Inputs of `call`.

        Returns:
            p, float32 `[batch, hops, sentences]`, 0 for padding. The weights of a hop sum to 1, or
            to less if there are empty `places`. During a linear start, they are scores without a
            softmax.
        """
        _, weights = self._read(inputs, training=False)
        return ops.stack(weights, axis=1)

    def answer_ids(self, inputs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the best answers as ids.

        Args:
            inputs: Inputs of `call`.

        Returns:
            The ids of the words, int32 `[batch]`, and their log-probabilities, float32 `[batch]`.
        """
        log_probabilities = self.generator.next_log_probability(self(inputs))
        # Padding, the unknown word, and the start and end tokens are not answers.
        words = log_probabilities[:, FIRST_WORD_ID:]
        best = ops.cast(ops.argmax(words, axis=-1), "int32")
        return best + FIRST_WORD_ID, ops.max(words, axis=-1, initial=-float("inf"))

    def inspect(self, inputs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the log-probabilities of all answers, and where each hop looked.

        Args:
            inputs: Inputs of `call`.

        Returns:
            Float32 `[batch, vocabulary]`, and the weights of `attend`.
        """
        state, weights = self._read(inputs, training=False)
        logits = self.generator(state, self.memories.last_embeddings)
        return self.generator.next_log_probability(logits), ops.stack(weights, axis=1)

    def _read(self, inputs: dict[str, Any], training: bool) -> tuple[Any, list[Any]]:
        """Return u^{K+1}, `[batch, embedding_dim]`, and p of each hop, `[batch, sentences]`."""
        self._check_inputs(inputs)
        pairs, mask = self.memories(inputs["story_ids"], training=training)
        state, looked = self.memories.question(inputs["question_ids"]), []
        for keys, values in pairs:
            read, weights = self.hop(state, keys, values, mask)
            state = self.memories.next_state(state, read)
            looked.append(weights)
        return state, looked

    @property
    def max_sentences(self) -> int | None:
        """Number of ages of the temporal encoding, or None without a temporal encoding."""
        ages = self.memories.ages
        return None if ages is None else ages.max_sentences

    def answer(
        self, stories: Sequence[Sequence[str]], questions: Sequence[str], *, batch_size: int = 64
    ) -> list[str]:
        """Answer questions. An export gives the same answers.

        Args:
            stories: Story of each question, a list of sentences, oldest first. Sentences are
                truncated to 100 words.
            questions: Questions, which are truncated to 100 words.
            batch_size: Number of questions in a batch.

        Returns:
            The answers, in the order of the questions. A question without words has an empty
            answer.

        Raises:
            ValueError: If the model has no tokenizers, the numbers of stories and questions differ,
                a story is one string, `batch_size` is below 1, or the Keras backend is not
                TensorFlow or JAX.
        """
        return self._translator().answer(stories, questions, batch_size=batch_size)

    def compile(
        self,
        optimizer: Any = "adam",
        *,
        loss: Any = None,
        weighted_metrics: Any = None,
        **kwargs,
    ) -> None:
        """Configure training.

        Args:
            optimizer: See `keras.Model.compile`.
            loss: See `keras.Model.compile`. It must take logits. If None, the loss is the
                cross-entropy of an answer, averaged over the questions.
            weighted_metrics: See `keras.Model.compile`. If None, the metric is `accuracy`.
            **kwargs: See `keras.Model.compile`.

        Raises:
            ValueError: If the loss takes probabilities.
        """
        check_takes_logits(loss)
        if loss is None:
            loss = keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, reduction="mean_with_sample_weight"
            )
        if weighted_metrics is None:
            weighted_metrics = [keras.metrics.SparseCategoricalAccuracy("accuracy")]
        super().compile(optimizer=optimizer, loss=loss, weighted_metrics=weighted_metrics, **kwargs)

    def fit(
        self, x: Any = None, y: Any = None, *args: Any, validation_data: Any = None, **kwargs
    ) -> keras.callbacks.History:
        """Train; see `keras.Model.fit`. Arrays of ids are checked first; datasets are not."""
        self._check_arrays(x, y)
        if isinstance(validation_data, tuple):
            self._check_arrays(*validation_data[:2])
        return super().fit(x, y, *args, validation_data=validation_data, **kwargs)

    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs) -> Any:
        """Measure loss and metrics; see `keras.Model.evaluate`. Arrays are checked as in `fit`."""
        self._check_arrays(x, y)
        return super().evaluate(x, y, *args, **kwargs)

    def _check_arrays(self, x: Any, y: Any) -> None:
        """Check ids in arrays. `call` cannot check them, because it gets tensors of a graph."""
        if isinstance(x, Mapping | list | tuple | np.ndarray):
            self._check_inputs(x)
            if y is not None:
                check_ids("targets", np.ravel(y), self.generator.vocabulary_size, "[batch]")

    def _check_inputs(self, inputs: Any) -> None:
        """Check that inputs are a dict with the ids of stories and questions."""
        shapes = {"story_ids": "[batch, sentences, words]", "question_ids": "[batch, words]"}
        check_names(inputs, [*shapes], "story_batches")
        for name, shape in shapes.items():
            check_ids(name, inputs[name], self.memories.vocabulary_size, shape)

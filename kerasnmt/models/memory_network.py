"""The end-to-end memory network."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import END_ID
from kerasnmt.layers import MemoryHop, build_once
from kerasnmt.models.checks import check_ids, check_takes_logits

_FIRST_WORD = END_ID + 1


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryNetwork(keras.Model):
    """Answers a question about a story by looking into it several times, with a word.

        p_i^k = softmax_i(u^kT m_i^k),  o^k = sum_i p_i^k c_i^k,  answer = softmax(W u^{K+1})

    Token ids go in, and logits `[batch, vocabulary]` come out, over all ids of the answers'
    tokenizer. Inputs are

        {"story_ids": int32 [batch, sentences, words], "question_ids": int32 [batch, words]}

    padded on the right with 0, without end tokens; a sentence of zeros is no sentence. The targets
    of training are ids, int32 `[batch]`. All of this works on every Keras backend; with tokenizers
    (and TensorFlow) `answer` and `export` take text.

    `kerasnmt.zoo.memory_network` assembles it, and `kerasnmt.data.story_batches` makes its inputs.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", equations 1
    to 4. Beside the paper's W the answer has a bias, that of the library's generators.

    Args:
        memories: a layer of embeddings, such as `kerasnmt.layers.AdjacentMemories`.
        generator: what turns u^{K+1} into logits: `TiedVocabularyProjection`, whose W^T is C^K, or
            `VocabularyProjection`.
        source_tokenizer: a `kerasnmt.text` tokenizer of stories and questions, or None where only
            ids are fed.
        target_tokenizer: a tokenizer of answers, for which an answer is one word; None takes the
            source's.
        places: number of places in the memory, of which a short story leaves some empty, see
            `kerasnmt.layers.MemoryHop`; None for none that is empty.
    """

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
        self.memories = memories
        self.generator = generator
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer or source_tokenizer
        self.hop = MemoryHop(places, dtype=self.dtype_policy, name="hop")
        self._story_module = None
        story = keras.KerasTensor((None, None, None), dtype="int32")
        question = keras.KerasTensor((None, None), dtype="int32")
        self({"story_ids": story, "question_ids": question})

    def build(self, input_shape: Any = None) -> None:
        """Make all weights; their shapes do not depend on the inputs."""
        units = self.memories.embedding_dim
        build_once(self.memories, None)
        build_once(self.hop, (None, units), (None, None, units), (None, None, units))
        build_once(self.generator, (None, units), tuple(self.memories.last_embeddings.shape))

    def call(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """Predict the answers.

        Args:
            inputs: `story_ids` and `question_ids`, see the class.
            training: whether the ages of sentences have random noise.

        Returns:
            logits `[batch, vocabulary]`.
        """
        state, _ = self._read(inputs, training)
        return self.generator(state, self.memories.last_embeddings)

    def attend(self, inputs: dict[str, Any]) -> Any:
        """Return where each hop looks.

        Args:
            inputs: as in `call`.

        Returns:
            p, float32 `[batch, hops, sentences]`: 0 for padding, and for real sentences shares that
            sum to 1, or with `places` to the share that empty places leave; unless a linear start
            has not ended.
        """
        _, weights = self._read(inputs, training=False)
        return ops.stack(weights, axis=1)

    def answer_ids(self, inputs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the best answers as ids.

        Args:
            inputs: as in `call`.

        Returns:
            ids of words, int32 `[batch]`, and their log-probabilities, float32 `[batch]`.
        """
        log_probabilities = self.generator.next_log_probability(self(inputs))
        # No answer is padding, the unknown word, start or end.
        words = log_probabilities[:, _FIRST_WORD:]
        best = ops.cast(ops.argmax(words, axis=-1), "int32")
        return best + _FIRST_WORD, ops.max(words, axis=-1)

    def _read(self, inputs: dict[str, Any], training: bool) -> tuple[Any, list[Any]]:
        """Return u^{K+1} `[batch, embedding_dim]`, and for each hop p `[batch, sentences]`."""
        for name in ("story_ids", "question_ids"):
            check_ids(name, inputs[name], self.memories.vocabulary_size)
        pairs, mask = self.memories(inputs["story_ids"], training=training)
        state, looked = self.memories.question(inputs["question_ids"]), []
        for keys, values in pairs:
            read, weights = self.hop(state, keys, values, mask)
            state = self.memories.next_state(state, read)
            looked.append(weights)
        return state, looked

    @property
    def max_sentences(self) -> int | None:
        """How many sentences the temporal encoding tells apart; None without one."""
        ages = self.memories.ages
        return None if ages is None else ages.max_sentences

    def answer(
        self, stories: Sequence[Sequence[str]], questions: Sequence[str], *, batch_size: int = 64
    ) -> list[str]:
        """Answer questions, with the same graph that `export` writes.

        Args:
            stories: for each question the sentences to answer it from, oldest first. Of each, and
                of a question, the first 100 words are read.
            questions: one each.
            batch_size: number of questions answered at once.

        Returns:
            one answer for each question, in order; an empty one for a question without words.

        Raises:
            ValueError: the model has no tokenizers, there are not as many stories as questions, a
                story is one string, `batch_size` is below 1, or Keras does not run on TensorFlow.
        """
        if self._story_module is None:
            self._story_module = self.serving_module()
        return self._story_module.answer(stories, questions, batch_size=batch_size)

    def export(self, directory: str, *, max_words: int = 100, weights: str = "float32") -> str:
        """Write a SavedModel for TF Serving: story and question in, answer out.

        It is written whole or not at all. For the signature see `kerasnmt.serving.StoryModule`.

        Args:
            directory: where to write, in TF Serving's shape `<name>/<version>`, the version a
                number; must not exist.
            max_words: most tokens of a sentence, and of a question; of longer ones the first are
                read.
            weights: the numbers in which the weights are stored: "float32", or for a smaller
                export "float16" or "int8", see `kerasnmt.serving.StoredWeights`.

        Returns:
            the directory.

        Raises:
            ValueError: the model has no tokenizers, `max_words` is below 1, or the directory
                exists.
        """
        self._need_tokenizers()
        from kerasnmt.serving import export_model

        return export_model(self, directory, max_words=max_words, weights=weights)

    def serving_module(self, **options) -> Any:
        """Return what `export` writes, a `kerasnmt.serving.StoryModule` with these options."""
        self._need_tokenizers()
        from kerasnmt.serving import StoryModule

        return StoryModule(self, **options)

    def _need_tokenizers(self) -> None:
        # Asked before anything that needs TensorFlow is imported.
        if self.source_tokenizer is None:
            raise ValueError(
                "Expected a model with tokenizers, to take text. Received: a model made of "
                "vocabulary sizes. Make it with tokenizers, or feed ids to model.answer_ids."
            )

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
            optimizer: as in `keras.Model.compile`.
            loss: likewise, one that takes logits; None for the cross-entropy of an answer, averaged
                over the questions.
            weighted_metrics: likewise; None for `accuracy`, the share of questions whose answer
                has the greatest logit.
            **kwargs: likewise.

        Raises:
            ValueError: the loss takes probabilities.
        """
        check_takes_logits(loss)
        if loss is None:
            loss = keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, reduction="mean_with_sample_weight"
            )
        if weighted_metrics is None:
            weighted_metrics = [keras.metrics.SparseCategoricalAccuracy("accuracy")]
        super().compile(optimizer=optimizer, loss=loss, weighted_metrics=weighted_metrics, **kwargs)

    def compile_from_config(self, config: dict) -> None:
        """Compile with the arguments of `get_compile_config`."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        self.optimizer.build(self.trainable_variables)

    def get_config(self) -> dict:
        """Return the constructor's arguments, the tokenizers with their vocabularies."""
        names = ["memories", "generator", "source_tokenizer"]
        if self.target_tokenizer is not self.source_tokenizer:
            names.append("target_tokenizer")
        serialize = keras.saving.serialize_keras_object
        parts = {name: serialize(getattr(self, name)) for name in names}
        return {**super().get_config(), **parts, "places": self.hop.places}

    @classmethod
    def from_config(cls, config: dict) -> "MemoryNetwork":
        """Make the model from `get_config`."""
        if config.get("source_tokenizer") is not None:
            from kerasnmt.text import register_tokenizers

            register_tokenizers()

        parts = ("memories", "generator", "source_tokenizer", "target_tokenizer")
        deserialize = keras.saving.deserialize_keras_object
        return cls(**{k: deserialize(v) if k in parts else v for k, v in config.items()})

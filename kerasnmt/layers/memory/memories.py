"""Memories: the embeddings of stories and questions for every hop."""

from itertools import pairwise
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import Composite, build_once


@keras.saving.register_keras_serializable("kerasnmt")
class SentenceAges(keras.layers.Layer):
    """Counts the sentences of a story from its end, for the temporal encoding T(i).

    The last sentence before the question has age 0. In training, random noise: after each sentence
    there stands an empty memory with a given probability, which makes all before it older. So the
    temporal encodings do not learn places by heart that few stories have. An empty memory holds
    nothing.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1,
    "temporal encoding" and "learning time invariance by injecting random noise".

    Args:
        max_sentences: Number of ages; sentences that are older have the greatest.
        random_noise: Probability of an empty memory after a sentence, in [0, 1); 0.1 in the paper.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(self, max_sentences: int, random_noise: float = 0.0, **kwargs) -> None:
        super().__init__(**kwargs)
        if max_sentences < 1:
            raise ValueError(f"Expected max_sentences >= 1. Received: {max_sentences=}")
        if not 0.0 <= random_noise < 1.0:
            raise ValueError(
                "Expected 0 <= random_noise < 1; a usual value is 0.1. "
                f"Received: random_noise={random_noise}"
            )
        self.max_sentences = max_sentences
        self.random_noise = random_noise
        if random_noise:
            self.seed_generator = keras.random.SeedGenerator()

    def call(self, sentence_mask: Any, training: bool = False) -> Any:
        """Count from the last real sentence.

        Args:
            sentence_mask: Boolean `[batch, sentences]`, True = real sentence.
            training: Whether there is noise.

        Returns:
            Int32 `[batch, sentences]`, from 0 to `max_sentences - 1`; of no meaning where masked.
        """
        steps = ops.cast(sentence_mask, "int32")
        if training and self.random_noise:
            drawn = keras.random.uniform(ops.shape(sentence_mask), seed=self.seed_generator)
            steps = steps * ops.where(drawn < self.random_noise, 2, 1)
        ages = ops.flip(ops.cumsum(ops.flip(steps, axis=1), axis=1), axis=1) - 1
        return ops.clip(ages, 0, self.max_sentences - 1)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "max_sentences": self.max_sentences,
            "random_noise": self.random_noise,
        }


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryEmbedding(Composite, keras.layers.Layer):
    """m_i = sum_j l_j * A x_ij + T(i): one matrix A of words, and one, T, of ages.

    Both begin as normal numbers with a deviation of 0.1. Padding is the null vector.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1.

    Args:
        vocabulary_size: Number of word ids.
        embedding_dim: d, size of an encoded sentence.
        encoding: How words make a sentence, `PositionEncoding()` or `BagOfWords()`.
        max_sentences: Number of ages that T has a row for; None for a memory without time, or a
            question.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        encoding: keras.layers.Layer,
        max_sentences: int | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.encoding = encoding
        self.max_sentences = max_sentences
        self.words = self._matrix(vocabulary_size, "words")
        self.times = max_sentences and self._matrix(max_sentences, "times")

    def _matrix(self, size: int, name: str) -> keras.layers.Layer:
        return keras.layers.Embedding(
            size,
            self.embedding_dim,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, ids_shape: Any = None) -> None:
        """Make the matrices; their shapes do not depend on the inputs."""
        build_once(self.words, None)
        if self.times is not None:
            build_once(self.times, None)

    def call(self, ids: Any, ages: Any = None) -> Any:
        """Encode sentences.

        Args:
            ids: Int32 `[..., words]`, padded on the right with 0.
            ages: Int32 `[...]` for T(i), or None to leave it out, as for a question.

        Returns:
            `[..., embedding_dim]`.
        """
        encoded = self.encoding(self.words(ids), ops.not_equal(ids, PAD_ID))
        if ages is None or self.times is None:
            return encoded
        return encoded + self.times(ages)


class Memories(Composite, keras.layers.Layer):
    """The embeddings of a memory network: of questions, and of stories for every hop.

    A subclass makes the embeddings, and gives `pairs`, `question`, `next_state` and
    `last_embeddings`.

    Args:
        hops: K, number of hops.
        vocabulary_size: Number of word ids.
        embedding_dim: d, size of an encoded sentence.
        encoding: How words make a sentence, `PositionEncoding()` or `BagOfWords()`.
        ages: `SentenceAges(…)` for the temporal encoding, or None for none.

    Raises:
        ValueError: If there is no hop.
    """

    def __init__(
        self,
        hops: int,
        vocabulary_size: int,
        embedding_dim: int,
        encoding: keras.layers.Layer,
        ages: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if hops < 1:
            raise ValueError(f"Expected hops >= 1. Received: hops={hops}")
        self.hops = hops
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.encoding = encoding
        self.ages = ages

    def call(self, story_ids: Any, training: bool = False) -> tuple[list[tuple[Any, Any]], Any]:
        """Encode stories.

        Args:
            story_ids: Int32 `[batch, sentences, words]`, padded on the right with 0.
            training: Whether ages have random noise.

        Returns:
            For each hop the pair (m, c) of tensors `[batch, sentences, embedding_dim]`; and the
            mask of the sentences, boolean `[batch, sentences]`, True = real.
        """
        mask = ops.any(ops.not_equal(story_ids, PAD_ID), axis=-1)
        ages = None if self.ages is None else self.ages(mask, training=training)
        return self.pairs(story_ids, ages), mask

    def pairs(self, story_ids: Any, ages: Any) -> list[tuple[Any, Any]]:
        """Return for each hop the pair (m, c), each `[batch, sentences, embedding_dim]`."""
        raise NotImplementedError

    def question(self, question_ids: Any) -> Any:
        """Encode questions, int32 `[batch, words]`, as u^1, `[batch, embedding_dim]`."""
        raise NotImplementedError

    def next_state(self, state: Any, read: Any) -> Any:
        """Return u^{k+1} from u^k and o^k, all `[batch, embedding_dim]`."""
        raise NotImplementedError

    @property
    def last_embeddings(self) -> Any:
        """The words of C^K, `[vocabulary, embedding_dim]`, for an answer that is tied to them."""
        raise NotImplementedError


@keras.saving.register_keras_serializable("kerasnmt")
class AdjacentMemories(Memories):
    """Adjacent tying: A^{k+1} = C^k, B = A^1, and W^T = C^K where the answer is tied.

    The hops follow each other by u^{k+1} = u^k + o^k. K hops have K + 1 embeddings, with their
    temporal encodings, each of which encodes the story once.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 2.2,
    "adjacent".

    Args:
        hops: K, number of hops.
        vocabulary_size: Number of word ids.
        embedding_dim: d, size of an encoded sentence.
        encoding: How words make a sentence, `PositionEncoding()` or `BagOfWords()`.
        ages: `SentenceAges(…)` for the temporal encoding, or None for none.

    Raises:
        ValueError: If there is no hop.
    """

    def __init__(
        self,
        hops: int,
        vocabulary_size: int,
        embedding_dim: int,
        encoding: keras.layers.Layer,
        ages: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        super().__init__(hops, vocabulary_size, embedding_dim, encoding, ages, **kwargs)
        sizes = (vocabulary_size, embedding_dim, encoding, ages and ages.max_sentences)
        self.embeddings = [
            MemoryEmbedding(*sizes, dtype=self.dtype_policy, name=f"embedding_{number}")
            for number in range(hops + 1)
        ]

    def build(self, story_shape: Any = None) -> None:
        """Make the embeddings; their shapes do not depend on the inputs."""
        for embedding in self.embeddings:
            build_once(embedding, None)

    def pairs(self, story_ids: Any, ages: Any) -> list[tuple[Any, Any]]:
        """Return for each hop the pair (m, c), each `[batch, sentences, embedding_dim]`."""
        encoded = [embedding(story_ids, ages) for embedding in self.embeddings]
        return list(pairwise(encoded))

    def question(self, question_ids: Any) -> Any:
        """Encode questions, int32 `[batch, words]`, as u^1, `[batch, embedding_dim]`."""
        return self.embeddings[0](question_ids)

    def next_state(self, state: Any, read: Any) -> Any:
        """Return u^{k+1} from u^k and o^k, all `[batch, embedding_dim]`."""
        return state + read

    @property
    def last_embeddings(self) -> Any:
        """The words of C^K, `[vocabulary, embedding_dim]`, for an answer that is tied to them."""
        return self.embeddings[-1].words.embeddings


@keras.saving.register_keras_serializable("kerasnmt")
class LayerwiseMemories(Memories):
    """Layer-wise tying, as in a recurrent network: A^k = A, C^k = C; u^{k+1} = H u^k + o^k.

    The question has an embedding B of its own. H begins as the identity, which leaves the hops
    those of `AdjacentMemories`.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 2.2,
    "layer-wise (RNN-like)", and equation 4.

    Args:
        hops: K, number of hops.
        vocabulary_size: Number of word ids.
        embedding_dim: d, size of an encoded sentence.
        encoding: How words make a sentence, `PositionEncoding()` or `BagOfWords()`.
        ages: `SentenceAges(…)` for the temporal encoding, or None for none.

    Raises:
        ValueError: If there is no hop.
    """

    def __init__(
        self,
        hops: int,
        vocabulary_size: int,
        embedding_dim: int,
        encoding: keras.layers.Layer,
        ages: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        super().__init__(hops, vocabulary_size, embedding_dim, encoding, ages, **kwargs)
        sizes, dtype = (vocabulary_size, embedding_dim, encoding), self.dtype_policy
        timed = (*sizes, ages and ages.max_sentences)
        self.input_embedding = MemoryEmbedding(*timed, dtype=dtype, name="input_embedding")
        self.output_embedding = MemoryEmbedding(*timed, dtype=dtype, name="output_embedding")
        self.question_embedding = MemoryEmbedding(*sizes, dtype=dtype, name="question_embedding")
        self.state_projection = keras.layers.Dense(
            embedding_dim,
            use_bias=False,
            kernel_initializer=keras.initializers.Identity(),
            dtype=dtype,
            name="state_projection",
        )

    def build(self, story_shape: Any = None) -> None:
        """Make the embeddings and H; their shapes do not depend on the inputs."""
        for part in (self.input_embedding, self.output_embedding, self.question_embedding):
            build_once(part, None)
        build_once(self.state_projection, (None, self.embedding_dim))

    def pairs(self, story_ids: Any, ages: Any) -> list[tuple[Any, Any]]:
        """Return for each hop the same pair (m, c), each `[batch, sentences, embedding_dim]`."""
        pair = self.input_embedding(story_ids, ages), self.output_embedding(story_ids, ages)
        return [pair] * self.hops

    def question(self, question_ids: Any) -> Any:
        """Encode questions, int32 `[batch, words]`, as u^1, `[batch, embedding_dim]`."""
        return self.question_embedding(question_ids)

    def next_state(self, state: Any, read: Any) -> Any:
        """Return u^{k+1} from u^k and o^k, all `[batch, embedding_dim]`."""
        return self.state_projection(state) + read

    @property
    def last_embeddings(self) -> Any:
        """The words of C, `[vocabulary, embedding_dim]`, for an answer that is tied to them."""
        return self.output_embedding.words.embeddings

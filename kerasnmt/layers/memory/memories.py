"""Memories, which embed stories for each hop, and questions."""

from itertools import pairwise
from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import Composite, build_once


@keras.saving.register_keras_serializable("kerasnmt")
class SentenceAges(Composite, keras.layers.Layer):
    """Ages of the sentences of a story, for the temporal encoding T(i).

    The last sentence before the question has age 0. Training adds random noise: with probability
    `random_noise`, an empty memory follows a sentence. It makes this sentence and all earlier ones
    older by 1. So the encodings of rare ages do not overfit.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1,
    "temporal encoding" and "learning time invariance by injecting random noise".

    Args:
        max_sentences: Number of ages. Older sentences get the greatest age.
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
        """Return the ages, counted from the last real sentence.

        Args:
            sentence_mask: Boolean `[batch, sentences]`, True = real sentence.
            training: Whether random noise applies.

        Returns:
            Int32 `[batch, sentences]`, from 0 to `max_sentences - 1`. Padding has no meaningful
            age.
        """
        steps = ops.cast(sentence_mask, "int32")
        if training and self.random_noise:
            drawn = keras.random.uniform(ops.shape(sentence_mask), seed=self.seed_generator)
            steps = steps * (1 + ops.cast(drawn < self.random_noise, "int32"))
        ages = ops.flip(ops.cumsum(ops.flip(steps, axis=1), axis=1), axis=1) - 1
        return ops.clip(ages, 0, self.max_sentences - 1)


@keras.saving.register_keras_serializable("kerasnmt")
class MemoryEmbedding(Composite, keras.layers.Layer):
    """Embedding of sentences, from an embedding A of words and an embedding T of ages.

        m_i = sum_j l_j * A x_ij + T(i)

    A and T start from a normal distribution with a standard deviation of 0.1. Padding is zero.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1.

    Args:
        vocabulary_size: Number of word ids.
        embedding_dim: Size d of an encoded sentence.
        encoding: Encoding of sentences, `PositionEncoding()` or `BagOfWords()`.
        max_sentences: Number of ages, the rows of T, or None for no temporal encoding, for example
            of questions.
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
        self.times: Any = max_sentences and self._matrix(max_sentences, "times")

    def _matrix(self, size: int, name: str) -> keras.layers.Layer:
        return keras.layers.Embedding(
            size,
            self.embedding_dim,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, ids_shape: Any = None) -> None:
        """Create the weights of the embeddings, whose shapes do not depend on the inputs."""
        build_once(self.words, None)
        if self.times is not None:
            build_once(self.times, None)

    def call(self, ids: Any, ages: Any = None) -> Any:
        """Encode sentences.

        Args:
            ids: Int32 `[..., words]`, right-padded with 0.
            ages: Ages for T(i), int32 `[...]`, or None for no temporal encoding.

        Returns:
            `[..., embedding_dim]`.
        """
        encoded = self.encoding(self.words(ids), ops.not_equal(ids, PAD_ID))
        if ages is None or self.times is None:
            return encoded
        return encoded + self.times(ages)


class Memories(Composite, keras.layers.Layer):
    """Base class of memories, which embed stories for each hop, and questions.

    A subclass implements `create_embeddings`, `pairs`, `question`, `next_state` and
    `last_embeddings`.

    Args:
        hops: Number K of hops.
        vocabulary_size: Number of word ids.
        embedding_dim: Size d of an encoded sentence.
        encoding: Encoding of sentences, `PositionEncoding()` or `BagOfWords()`.
        ages: `SentenceAges(…)`, or None for no temporal encoding.

    Raises:
        ValueError: If `hops` is below 1.
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
        self.create_embeddings()

    def create_embeddings(self) -> None:
        """Create the layers of the memories. The constructor calls this method last."""
        raise NotImplementedError

    def embedding(self, name: str, with_ages: bool = True) -> MemoryEmbedding:
        """Return a new embedding of sentences, with or without a temporal encoding."""
        max_sentences = self.ages.max_sentences if with_ages and self.ages is not None else None
        return MemoryEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.encoding,
            max_sentences,
            dtype=self.dtype_policy,
            name=name,
        )

    def call(self, story_ids: Any, training: bool = False) -> tuple[list[tuple[Any, Any]], Any]:
        """Encode stories.

        Args:
            story_ids: Int32 `[batch, sentences, words]`, right-padded with 0.
            training: Whether random noise applies.

        Returns:
            List of the pair (m, c) of each hop, `[batch, sentences, embedding_dim]` each; and the
            mask of the sentences, boolean `[batch, sentences]`, True = real sentence.
        """
        mask = ops.any(ops.not_equal(story_ids, PAD_ID), axis=-1)
        ages = None if self.ages is None else self.ages(mask, training=training)
        return self.pairs(story_ids, ages), mask

    def pairs(self, story_ids: Any, ages: Any) -> list[tuple[Any, Any]]:
        """Return the pair (m, c) of each hop, `[batch, sentences, embedding_dim]` each."""
        raise NotImplementedError

    def question(self, question_ids: Any) -> Any:
        """Encode questions, int32 `[batch, words]`, as u^1, `[batch, embedding_dim]`."""
        raise NotImplementedError

    def next_state(self, state: Any, read: Any) -> Any:
        """Return u^{k+1} from u^k and o^k, all `[batch, embedding_dim]`."""
        raise NotImplementedError

    @property
    def last_embeddings(self) -> Any:
        """Word embeddings of C^K, `[vocabulary, embedding_dim]`, for a tied output layer."""
        raise NotImplementedError


@keras.saving.register_keras_serializable("kerasnmt")
class AdjacentMemories(Memories):
    """Memories with adjacent tying.

        A^{k+1} = C^k,    B = A^1,    W^T = C^K with a tied output layer
        u^{k+1} = u^k + o^k

    K hops have K + 1 embeddings with temporal encodings. Each of them embeds the story once.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 2.2,
    "adjacent".
    """

    def create_embeddings(self) -> None:
        """Create K + 1 embeddings of stories. The first one also embeds questions."""
        names = [f"embedding_{number}" for number in range(self.hops + 1)]
        self.embeddings = [self.embedding(name) for name in names]

    def build(self, story_shape: Any = None) -> None:
        """Create the weights of the embeddings, whose shapes do not depend on the inputs."""
        for embedding in self.embeddings:
            build_once(embedding, None)

    def pairs(self, story_ids: Any, ages: Any) -> list[tuple[Any, Any]]:
        """Return the pair (m, c) of each hop, `[batch, sentences, embedding_dim]` each."""
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
        """Word embeddings of C^K, `[vocabulary, embedding_dim]`, for a tied output layer."""
        return self.embeddings[-1].words.embeddings


@keras.saving.register_keras_serializable("kerasnmt")
class LayerwiseMemories(Memories):
    """Memories with layer-wise tying, like a recurrent network.

        A^k = A,    C^k = C
        u^{k+1} = H u^k + o^k

    H starts as the identity, so training starts with the same next state as `AdjacentMemories`. The
    question has its own embedding B.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 2.2,
    "layer-wise (RNN-like)", and equation 4.
    """

    def create_embeddings(self) -> None:
        """Create the embeddings A and C of stories, the embedding B of questions, and H."""
        self.input_embedding = self.embedding("input_embedding")
        self.output_embedding = self.embedding("output_embedding")
        self.question_embedding = self.embedding("question_embedding", with_ages=False)
        self.state_projection = keras.layers.Dense(
            self.embedding_dim,
            use_bias=False,
            kernel_initializer=keras.initializers.Identity(),
            dtype=self.dtype_policy,
            name="state_projection",
        )

    def build(self, story_shape: Any = None) -> None:
        """Create the weights of the embeddings and H, whose shapes do not depend on the inputs."""
        for part in (self.input_embedding, self.output_embedding, self.question_embedding):
            build_once(part, None)
        build_once(self.state_projection, (None, self.embedding_dim))

    def pairs(self, story_ids: Any, ages: Any) -> list[tuple[Any, Any]]:
        """Return the same pair (m, c) for each hop, `[batch, sentences, embedding_dim]` each."""
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
        """Word embeddings of C, `[vocabulary, embedding_dim]`, for a tied output layer."""
        return self.output_embedding.words.embeddings

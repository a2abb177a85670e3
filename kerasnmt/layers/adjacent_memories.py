"""Memories of which each hop's output embedding is the next hop's input embedding."""

from itertools import pairwise
from typing import Any

import keras

from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.memories import Memories
from kerasnmt.layers.memory_embedding import MemoryEmbedding


@keras.saving.register_keras_serializable("kerasnmt")
class AdjacentMemories(Memories):
    """Adjacent tying: A^{k+1} = C^k, B = A^1, and W^T = C^K where the answer is tied.

    The hops follow each other by u^{k+1} = u^k + o^k. K hops have K + 1 embeddings, with their
    temporal encodings, each of which encodes the story once.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 2.2,
    "adjacent".

    Args:
        hops: K, number of hops.
        vocabulary_size: number of word ids.
        embedding_dim: d, size of an encoded sentence.
        encoding: how words make a sentence, `PositionEncoding()` or `BagOfWords()`.
        ages: `SentenceAges(…)` for the temporal encoding, or None for none.

    Raises:
        ValueError: there is no hop.
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

"""Memories that are the same in every hop."""

from typing import Any

import keras

from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.memories import Memories
from kerasnmt.layers.memory_embedding import MemoryEmbedding


@keras.saving.register_keras_serializable("kerasnmt")
class LayerwiseMemories(Memories):
    """Layer-wise tying, as in a recurrent network: A^k = A, C^k = C; u^{k+1} = H u^k + o^k.

    The question has an embedding B of its own. H begins as the identity, which leaves the hops
    those of `AdjacentMemories`.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 2.2,
    "layer-wise (RNN-like)", and equation 4.

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

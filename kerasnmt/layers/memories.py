"""What memories have in common, however their embeddings are tied."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.composite import Composite


class Memories(Composite, keras.layers.Layer):
    """The embeddings of a memory network: of questions, and of stories for every hop.

    A subclass makes the embeddings, and gives `pairs`, `question`, `next_state` and
    `last_embeddings`.

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
            story_ids: int32 `[batch, sentences, words]`, padded on the right with 0.
            training: whether ages have random noise.

        Returns:
            for each hop the pair (m, c) of tensors `[batch, sentences, embedding_dim]`; and the
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

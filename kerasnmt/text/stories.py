"""Turn stories into the ids of their words."""

import tensorflow as tf

from kerasnmt.text.tokenizer import Tokenizer


def story_ids(
    tokenizer: Tokenizer, stories: tf.RaggedTensor, max_sentences: int | None
) -> tf.RaggedTensor:
    """Turn stories into ids, eagerly or in a graph.

    Args:
        tokenizer: The tokenizer of the sentences.
        stories: The sentences of each story, string `[batch, (sentences)]`.
        max_sentences: Maximum number of sentences. A longer story is cut to its last sentences.
            `None` for no limit.

    Returns:
        The ids of all sentences with words, int32 `[batch, (sentences), (words)]`.
    """
    ids = stories.with_values(tokenizer.tokenize(stories.values))
    said = stories.with_values(ids.values.row_lengths() > 0)
    ids = tf.ragged.boolean_mask(ids, said)
    return ids if max_sentences is None else ids[:, -max_sentences:]

"""Ids of the words of stories."""

import tensorflow as tf

from kerasnmt.text.tokenizer import Tokenizer


def story_ids(
    tokenizer: Tokenizer, stories: tf.RaggedTensor, max_sentences: int | None
) -> tf.RaggedTensor:
    """Turn stories into ids, eagerly or in a graph.

    Args:
        tokenizer: Tokenizer of the sentences.
        stories: Sentences of each story, string `[batch, (sentences)]`.
        max_sentences: Maximum number of sentences, or None for no limit. A longer story is
            truncated to its last sentences.

    Returns:
        The ids of all sentences with words, int32 `[batch, (sentences), (words)]`.
    """
    ids = stories.with_values(tokenizer.tokenize(tokenizer.normalize_source(stories.values)))
    said = stories.with_values(ids.values.row_lengths() > 0)
    ids = tf.ragged.boolean_mask(ids, said)
    return ids if max_sentences is None else ids[:, -max_sentences:]

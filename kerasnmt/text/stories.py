"""Stories as ids: of each the sentences, of each sentence the words."""

import tensorflow as tf

from kerasnmt.text.tokenizer import Tokenizer


def story_ids(
    tokenizer: Tokenizer, stories: tf.RaggedTensor, max_sentences: int | None
) -> tf.RaggedTensor:
    """Turns stories into ids, inside a TensorFlow graph or outside.

    Args:
        tokenizer: makes ids of the sentences.
        stories: the sentences of each story, string `[batch, (sentences)]`.
        max_sentences: of a longer story the last ones are taken; None for all.

    Returns:
        int32 `[batch, (sentences), (words)]`; sentences without words are left out.
    """
    ids = stories.with_values(tokenizer.tokenize(stories.values))
    said = stories.with_values(ids.values.row_lengths() > 0)
    ids = tf.ragged.boolean_mask(ids, said)
    return ids if max_sentences is None else ids[:, -max_sentences:]


def padded(ids: tf.RaggedTensor) -> tf.Tensor:
    """Pads ids on the right with 0, to a size of at least 1 on each axis but the batch's.

    Args:
        ids: int32 `[batch, (words)]` or `[batch, (sentences), (words)]`.

    Returns:
        int32 `[batch, words]` or `[batch, sentences, words]`.
    """
    sizes = tf.maximum(ids.bounding_shape()[1:], 1)
    return ids.to_tensor(shape=tf.concat([[ids.nrows()], sizes], axis=0))

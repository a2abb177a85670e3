"""A tokenized source with extended ids for its unknown words."""

from typing import NamedTuple

import tensorflow as tf


class ExtendedSource(NamedTuple):
    """The result of a tokenizer's `tokenize_source` for a batch of texts.

    Attributes:
        ids: The ids that `tokenize` returns, int32 `[batch, (length)]`, all below the vocabulary
            size.
        extended_ids: The same ids, int32 `[batch, (length)]`, but each word outside the vocabulary
            has an id of at least the vocabulary size.
        unknown_words: The words of these extended ids, in the order of the ids, string
            `[batch, (unknown)]`.
    """

    ids: tf.RaggedTensor
    extended_ids: tf.RaggedTensor
    unknown_words: tf.RaggedTensor

"""A tokenized source with ids for its unknown words."""

from typing import NamedTuple

import tensorflow as tf


class ExtendedSource(NamedTuple):
    """What a tokenizer's `tokenize_source` makes of a batch of texts.

    Attributes:
        ids: int32 `[batch, (length)]`, as `tokenize` gives them, all below the vocabulary's size.
        extended_ids: int32, as long in each row: the same, but a word outside the vocabulary has
            an id from the vocabulary's size on.
        unknown_words: string `[batch, (unknown)]`, the words of these ids, in their order.
    """

    ids: tf.RaggedTensor
    extended_ids: tf.RaggedTensor
    unknown_words: tf.RaggedTensor

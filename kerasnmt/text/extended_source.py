"""Tokenized source with extended ids for its unknown words."""

from typing import NamedTuple

import tensorflow as tf


class ExtendedSource(NamedTuple):
    """Result of `Tokenizer.tokenize_source` for a batch of texts.

    Attributes:
        ids: Ids of `tokenize`, int32 `[batch, (length)]`, all below the vocabulary size.
        extended_ids: The same ids, int32 `[batch, (length)]`, except for words outside the
            vocabulary, whose ids start with the vocabulary size.
        unknown_words: Words outside the vocabulary, in the order of their ids, string
            `[batch, (unknown)]`.
    """

    ids: tf.RaggedTensor
    extended_ids: tf.RaggedTensor
    unknown_words: tf.RaggedTensor

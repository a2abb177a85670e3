"""Ids of the words in the source of an example that are outside the vocabulary.

All functions run in a graph, on flat values. They find equal words of a row with the hash table of
`tf.unique`, so a source may have any length.
"""

from typing import NamedTuple

import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID


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


def find_unknown_words(ids: tf.RaggedTensor, words: tf.RaggedTensor) -> tf.RaggedTensor:
    """Collect the unknown words of each row.

    Args:
        ids: Ids, int32 `[batch, (length)]`.
        words: Text of each id, string `[batch, (length)]`, or "" for an unknown id that cannot be
            copied.

    Returns:
        The distinct unknown words of each row, in order of first appearance, string
        `[batch, (unknown)]`.
    """
    _, rows, words = _unknown(ids, words)
    unique, index = tf.unique(_keys(rows, words))
    first = tf.math.unsorted_segment_min(tf.range(tf.size(index)), index, tf.size(unique))
    # The words are sorted by row, as `from_value_rowids` requires.
    return tf.RaggedTensor.from_value_rowids(
        tf.gather(words, first), tf.gather(rows, first), ids.nrows(), validate=False
    )


def extended_ids(
    ids: tf.RaggedTensor,
    words: tf.RaggedTensor,
    unknown_words: tf.RaggedTensor,
    vocabulary_size: int,
) -> tf.RaggedTensor:
    """Replace unknown ids by extended ids, if their words are among the unknown words of the row.

    Args:
        ids: Ids, int32 `[batch, (length)]`.
        words: Text of each id, string `[batch, (length)]`, or "" for an unknown id that cannot be
            copied.
        unknown_words: Distinct unknown words of each row, string `[batch, (unknown)]`.
        vocabulary_size: Size of the vocabulary, which is the first extended id of each row.

    Returns:
        The extended ids, int32 `[batch, (length)]`.
    """
    indices, rows, words = _unknown(ids, words)
    count = tf.size(unknown_words.flat_values, tf.int64)
    keys = [_keys(unknown_words.value_rowids(), unknown_words.flat_values), _keys(rows, words)]
    _, index = tf.unique(tf.concat(keys, axis=0), tf.int64)
    index = index[count:]  # the first ones are 0, 1, 2, …, because the words of a row are distinct
    rank = index - tf.gather(unknown_words.row_starts(), rows)
    extended = tf.where(index < count, vocabulary_size + rank, UNKNOWN_ID)
    flat = tf.tensor_scatter_nd_update(
        ids.flat_values, indices[:, tf.newaxis], tf.cast(extended, tf.int32)
    )
    return ids.with_flat_values(flat)


def words_of_extended_ids(
    ids: tf.Tensor, rows: tf.Tensor, unknown_words: tf.RaggedTensor, vocabulary_size: int
) -> tf.Tensor:
    """Look up the unknown words of extended ids.

    Args:
        ids: Integers of any shape.
        rows: Row of each id, integers with a shape that broadcasts to the shape of `ids`.
        unknown_words: Unknown words of each row, string `[batch, (unknown)]`.
        vocabulary_size: Size of the vocabulary, which is the first extended id of each row.

    Returns:
        The words, a string tensor with the shape of `ids`, or "" for an id that is not an extended
        id.
    """
    rank = tf.cast(ids, tf.int64) - vocabulary_size
    within = (rank >= 0) & (rank < tf.gather(unknown_words.row_lengths(), rows))
    index = 1 + rank + tf.gather(unknown_words.row_starts(), rows)
    words = tf.concat([[""], unknown_words.flat_values], axis=0)
    return tf.gather(words, tf.where(within, index, 0))


def _unknown(
    ids: tf.RaggedTensor, words: tf.RaggedTensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return the indices of unknown words in the flat values, their rows, and the words."""
    unknown = (ids.flat_values == UNKNOWN_ID) & (words.flat_values != "")
    indices = tf.where(unknown)[:, 0]
    words = tf.gather(words.flat_values, indices)
    # The words can become a part of the output, so bytes that are not UTF-8 become U+FFFD.
    words = tf.strings.unicode_transcode(words, "UTF-8", "UTF-8")
    return indices, tf.gather(ids.value_rowids(), indices), words


def _keys(rows: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
    """Return strings that are equal only if both the row and the word are equal."""
    return tf.strings.join([tf.strings.as_string(rows), words], "\t")

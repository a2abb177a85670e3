"""Ids for words outside the vocabulary, which hold for one example: those of its source.

All of it runs in the graph, on flat values. Words are compared within their row by `tf.unique`, a
hash table, so that a source may be of any length.
"""

import tensorflow as tf

from kerasnmt.ids import UNKNOWN_ID


def find_unknown_words(ids: tf.RaggedTensor, words: tf.RaggedTensor) -> tf.RaggedTensor:
    """Collects the unknown words of each row.

    Args:
        ids: int32 `[batch, (length)]`.
        words: string, as long in each row: how the text writes each id; "" where an unknown one
            is not to be copied.

    Returns:
        string `[batch, (unknown)]`, in order of first appearance, none twice in a row.
    """
    _, rows, words = _unknown(ids, words)
    unique, index = tf.unique(_keys(rows, words))
    first = tf.math.unsorted_segment_min(tf.range(tf.size(index)), index, tf.size(unique))
    # Rows come one after the other, and so do their words.
    return tf.RaggedTensor.from_value_rowids(
        tf.gather(words, first), tf.gather(rows, first), ids.nrows(), validate=False
    )


def extended_ids(
    ids: tf.RaggedTensor,
    words: tf.RaggedTensor,
    unknown_words: tf.RaggedTensor,
    vocabulary_size: int,
) -> tf.RaggedTensor:
    """Gives an id to each unknown word that is among those of its row.

    Args:
        ids: int32 `[batch, (length)]`.
        words: string, as long in each row: how the text writes each id; "" where an unknown one
            is not to be copied.
        unknown_words: string `[batch, (unknown)]`, none twice in a row.
        vocabulary_size: the id of the first word of each row.

    Returns:
        int32, as long in each row as `ids`.
    """
    places, rows, words = _unknown(ids, words)
    count = tf.size(unknown_words.flat_values, tf.int64)
    keys = [_keys(unknown_words.value_rowids(), unknown_words.flat_values), _keys(rows, words)]
    _, index = tf.unique(tf.concat(keys, axis=0), tf.int64)
    index = index[count:]  # the first ones are 0, 1, 2, …, because none is twice in a row
    rank = index - tf.gather(unknown_words.row_starts(), rows)
    found = tf.where(index < count, vocabulary_size + rank, UNKNOWN_ID)
    flat = tf.tensor_scatter_nd_update(
        ids.flat_values, places[:, tf.newaxis], tf.cast(found, tf.int32)
    )
    return ids.with_flat_values(flat)


def words_of_extended_ids(
    ids: tf.Tensor, rows: tf.Tensor, unknown_words: tf.RaggedTensor, vocabulary_size: int
) -> tf.Tensor:
    """Looks up the unknown words that ids stand for.

    Args:
        ids: integer, of any shape.
        rows: integer, of a shape that broadcasts: which row each id belongs to.
        unknown_words: string `[batch, (unknown)]`.
        vocabulary_size: the id of the first word of each row.

    Returns:
        string, of the shape of `ids`; "" where an id stands for no unknown word.
    """
    rank = tf.cast(ids, tf.int64) - vocabulary_size
    within = (rank >= 0) & (rank < tf.gather(unknown_words.row_lengths(), rows))
    place = 1 + rank + tf.gather(unknown_words.row_starts(), rows)
    words = tf.concat([[""], unknown_words.flat_values], axis=0)
    return tf.gather(words, tf.where(within, place, 0))


def _unknown(
    ids: tf.RaggedTensor, words: tf.RaggedTensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The unknown words: their places among the flat values, their rows, and themselves."""
    unknown = (ids.flat_values == UNKNOWN_ID) & (words.flat_values != "")
    places = tf.where(unknown)[:, 0]
    words = tf.gather(words.flat_values, places)
    # They will be written as text: bytes that are not UTF-8 become U+FFFD.
    words = tf.strings.unicode_transcode(words, "UTF-8", "UTF-8")
    return places, tf.gather(ids.value_rowids(), places), words


def _keys(rows: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
    """Strings that are equal where both the row and the word are."""
    return tf.strings.join([tf.strings.as_string(rows), words], "\t")

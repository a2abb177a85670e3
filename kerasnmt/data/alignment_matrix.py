"""From links between words to weights between tokens."""

import tensorflow as tf

from kerasnmt.text import Tokenizer

# What Python's `str.strip` takes away, and the sign of a space.
_BARE = r"[▁\p{Z}\s\x{85}\x{1c}-\x{1f}\x{0b}]*"


def alignment_matrix(
    source_words: tf.Tensor, target_words: tf.Tensor, links: tf.Tensor
) -> tf.Tensor:
    """Say where the tokens of a target should look, as the links of its words have it.

    Args:
        source_words: Int32 `[source_length]`, the word of each token, see `words_of`.
        target_words: Int32 `[target_length]`, likewise.
        links: Int32 `[links, 2]`, pairs of a source and a target word.

    Returns:
        Float32 `[target_length, source_length]`; a row is even over the tokens of the linked
        source words, and 0 where the target token is of no word or of one without a link.
    """
    from_source = source_words[:, None] == links[:, 0]
    to_target = target_words[:, None] == links[:, 1]
    linked = tf.reduce_any(to_target[:, None] & from_source[None], axis=-1)
    linked = tf.cast(linked, tf.float32)
    return tf.math.divide_no_nan(linked, tf.reduce_sum(linked, axis=1, keepdims=True))


def words_of(tokenizer: Tokenizer, ids: tf.Tensor) -> tf.Tensor:
    """Tell for each token of one sentence which word it belongs to.

    In graph what `kerasnmt.text.word_indices` is in Python.

    Args:
        tokenizer: That made the ids.
        ids: Int32 `[length]`, the last one the end token.

    Returns:
        Int32 `[length]`, counted from 0; -1 for the end token and bare spaces.
    """
    tokens = tokenizer.tokens(ids[:-1])
    if tokenizer.kind == "words":
        words = tf.range(tf.size(tokens))
    else:
        bare = tf.strings.regex_full_match(tokens, _BARE)
        begins = tf.strings.regex_full_match(tokens, "▁.*")
        after_bare = tf.concat([[True], bare], axis=0)[:-1]
        starts = tf.cast(~bare & (begins | after_bare), tf.int32)
        words = tf.where(bare, -1, tf.cumsum(starts) - 1)
    return tf.concat([words, [-1]], axis=0)

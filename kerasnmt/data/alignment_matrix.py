"""Weights between tokens, from links between words."""

from collections.abc import Sequence

import tensorflow as tf

from kerasnmt.text import Tokenizer
from kerasnmt.text.word_indices import JOINER, LEAVE_UNSPACED, LONGEST_MEAN_WORD, UNSPACED

# Characters that Python's `str.strip` removes, and "▁", which stands for a space.
_BARE = r"[▁\p{Z}\s\x{85}\x{1c}-\x{1f}\x{0b}]*"


def alignment_matrix(
    source_words: tf.Tensor, target_words: tf.Tensor, links: tf.Tensor
) -> tf.Tensor:
    """Return the attention weights that correspond to links between words.

    Args:
        source_words: Index of the word of each source token, int32 `[source_length]`, from
            `words_of`.
        target_words: Index of the word of each target token, int32 `[target_length]`.
        links: Pairs of a source word and a target word, int32 `[links, 2]`.

    Returns:
        Float32 `[target_length, source_length]`. A row is uniform over the tokens of the linked
        source words, and 0 for a target token without a word or without a link.
    """
    from_source = source_words[:, None] == links[:, 0]
    to_target = target_words[:, None] == links[:, 1]
    linked = tf.reduce_any(to_target[:, None] & from_source[None], axis=-1)
    linked = tf.cast(linked, tf.float32)
    return tf.math.divide_no_nan(linked, tf.reduce_sum(linked, axis=1, keepdims=True))


def tokens_of(
    tokenizer: Tokenizer, text: tf.Tensor | Sequence[str], ids: tf.RaggedTensor
) -> tf.RaggedTensor:
    """Return the tokens of texts, for `words_of`.

    Args:
        tokenizer: Tokenizer of the texts.
        text: Texts, string `[batch]` or a list of `str`.
        ids: Ids of the texts, int32 `[batch, (length)]`.

    Returns:
        String `[batch, (length)]`. An unknown word of `PunctuationTokenizer` keeps its joiners.
    """
    tokens = tokenizer.tokens(ids.flat_values)
    if tokenizer.kind == "words_and_punctuation":
        words = tokenizer.words(text).flat_values
        tokens = tf.where(words == "", tokens, words)
    return ids.with_flat_values(tokens)


def words_of(tokenizer: Tokenizer, tokens: tf.Tensor) -> tf.Tensor:
    """Return the index of the word of each token of one sentence.

    This is `kerasnmt.text.word_indices` in TensorFlow ops.

    Args:
        tokenizer: Tokenizer of the sentence.
        tokens: Tokens without the end token, string `[length]`.

    Returns:
        Int32 `[length + 1]`, counted from 0, or -1 for the end token and single spaces.
    """
    if tokenizer.kind == "words":
        words = tf.range(tf.size(tokens))
    elif tokenizer.kind == "words_and_punctuation":
        neighbors = tf.strings.join([tokens[:-1], tokens[1:]], "\t")
        joined = tf.strings.regex_full_match(neighbors, f"(?s).*({JOINER}\t|\t{JOINER}).*")
        starts = tf.concat([tf.fill([tf.minimum(tf.size(tokens), 1)], True), ~joined], axis=0)
        words = tf.cumsum(tf.cast(starts, tf.int32)) - 1
    else:
        bare = tf.strings.regex_full_match(tokens, _BARE)
        begins = tf.strings.regex_full_match(tokens, "▁.*")
        after_bare = tf.concat([[True], bare], axis=0)[:-1]
        unspaced = tf.strings.regex_full_match(tokens, f"▁*{UNSPACED}.*")
        ends = tf.strings.regex_full_match(tokens, f"(?s).*{UNSPACED}")
        unspaced |= tf.concat([[False], ends], axis=0)[:-1]
        tags = tokenizer.tokens(tf.constant(tokenizer.tag_ids, tf.int32))
        is_tag = tf.reduce_any(tokens[:, None] == tags, axis=1)
        unspaced &= ~tf.concat([[False], is_tag], axis=0)[:-1]
        alone = unspaced & ~tf.strings.regex_full_match(tokens, r"▁*\p{M}.*") & ~_has_spaces(tokens)
        starts = tf.cast(~bare & (begins | after_bare | alone), tf.int32)
        words = tf.where(bare, -1, tf.cumsum(starts) - 1)
    return tf.concat([words, [-1]], axis=0)


def _has_spaces(tokens: tf.Tensor) -> tf.Tensor:
    """Return whether spaces separate the words of a sentence."""
    text = tf.strings.reduce_join(tokens)
    for pattern, replacement in LEAVE_UNSPACED:
        text = tf.strings.regex_replace(text, pattern, replacement)
    parts = tf.strings.length(tf.strings.split(text, "▁"), "UTF8_CHAR")
    letters, spaces = tf.reduce_sum(parts), tf.size(parts) - 1
    return (letters == 0) | ((spaces > 0) & (LONGEST_MEAN_WORD * (spaces + 1) >= letters))

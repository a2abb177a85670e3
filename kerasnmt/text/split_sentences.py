"""Sentences and words of a text, in a TensorFlow graph."""

from collections.abc import Iterable

import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401
from kerasnmt.text.parts import APOSTROPHES, SPACES, Parts, starts_with
from kerasnmt.text.sentence_ends import BEGINNING, CAPITALS, END, REST, WITHOUT_CAPITALS


def split_sentences(text: tf.Tensor) -> tf.RaggedTensor:
    """Split texts into sentences.

    The rule is cautious: where it is not sure, it does not split. A sentence ends

    - after `.` or `…` and a space, if the next word begins with a capital letter, or a letter of a
      script without capitals, and the word before has at least two letters and is not a common
      abbreviation, such as "Dr." and "etc.", a number up to 31, or a Roman numeral;
    - after `!`, `?`, `؟`, `।`, or `;` after a Greek letter, and a space, with the same rule for the
      next word;
    - after `。`, `！` or `？`, also without a space.

    Quotation marks and parentheses that close belong to the sentence before. In a text without
    capitals, a sentence also ends after `.`, `!` or `?` before a lowercase letter, but not after
    `…`, `...` or a quotation mark.

    Args:
        text: Texts, string `[batch]`.

    Returns:
        The sentences, string `[batch, (sentences)]`. Each text has at least one.
    """
    text = _replaced(text, BEGINNING)
    has_capitals = tf.strings.regex_full_match(text, rf"\C*{CAPITALS}\C*")
    text = tf.where(has_capitals, text, _replaced(text, WITHOUT_CAPITALS))
    return tf.strings.split(_replaced(text, (*REST, (f"{END}+$", ""))), END)


def join_sentences(sentences: tf.RaggedTensor) -> tf.Tensor:
    """Join the sentences of each text, with a space, or without one after `。`, `！` or `？`.

    Empty sentences are left out.

    Args:
        sentences: Sentences, string `[batch, (sentences)]`.

    Returns:
        The texts, string `[batch]`.
    """
    text = tf.strings.reduce_join(sentences, axis=-1, separator=END)
    text = tf.strings.regex_replace(text, f"^{END}+|{END}+$", "")
    text = tf.strings.regex_replace(text, rf"([。！？｡][」』”’）]*){END}+", r"\1")
    return tf.strings.regex_replace(text, f"{END}+", " ")


def split_words(text: tf.Tensor) -> tf.RaggedTensor:
    """Split texts into words, without the signs around them; see `parts.split_into_words`.

    Args:
        text: Texts, string `[batch]`.

    Returns:
        The words, string `[batch, (words)]`. Each text has at least one, which may be empty.
    """
    text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")
    kept = rf"\p{{L}}\p{{N}}{APOSTROPHES}{END}"
    replacements = (
        (f"[{SPACES}]+", END + END),  # two, so that each word has its own
        (rf"(^|{END})[^{kept}]+", r"\1"),
        (rf"[^{kept}\p{{M}}]+({END}|$)", r"\1"),
        (rf"(^|{END})[{APOSTROPHES}]([^{END}]*)[{APOSTROPHES}]({END}|$)", r"\1\2\3"),
        (rf"(^|{END})[{APOSTROPHES}]+({END}|$)", r"\1\2"),
        (f"^{END}+|{END}+$", ""),
        (f"{END}+", END),
    )
    return tf.strings.split(_replaced(text, replacements), END)


def split_parts(parts: Parts, text: tf.Tensor) -> tf.RaggedTensor:
    """Split texts into the parts that a model translates one by one; see `Parts.split`.

    Args:
        parts: The split of the model.
        text: Texts, string `[batch]`.

    Returns:
        The parts, string `[batch, (parts)]`. Each text has at least one.
    """
    split = split_words if parts.words else split_sentences
    start = starts_with(tuple(parts.tags))
    found = split(tf.strings.regex_replace(text, start, "", replace_global=False))
    tags = tf.strings.regex_replace(text, rf"({start})\C*$", r"\1")
    tags = tf.gather(tags, found.value_rowids())
    ones = found.flat_values
    return found.with_flat_values(tf.where(ones == "", "", tf.strings.join([tags, ones])))


def _replaced(text: tf.Tensor, replacements: Iterable[tuple[str, str]]) -> tf.Tensor:
    for pattern, replacement in replacements:
        text = tf.strings.regex_replace(text, pattern, replacement)
    return text

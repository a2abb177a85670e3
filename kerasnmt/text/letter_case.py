"""Letter case of texts in a TensorFlow graph.

TensorFlow follows the locale of its process, by which a Turkish "I" becomes "ı". Here it becomes
"i". A Greek locale still removes the accents of capitals. TensorFlow drops what follows U+0000.
"""

from collections.abc import Sequence

import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401
from kerasnmt.text.parts import APOSTROPHES, SPACES, starts_with

HAS_LOWERCASE = r"\C*\p{Ll}\C*"
# The patterns of `sentence_case`. Texts with a character of `_OTHERS` stay as they are.
_OTHERS = r"\p{Lo}\p{Lm}\x{10d0}-\x{10ff}\x00"
_UPPER = rf"[^\p{{Ll}}{_OTHERS}]*"
_IN_CAPITALS = rf"{_UPPER}\p{{Lu}}{_UPPER}\p{{Lu}}{_UPPER}"
_FIRST_LETTER = r"^([^\p{L}\p{N}]*)(\p{Ll})(\C*)$"
_FIRST_OF_WORD = (
    r"^[^\p{L}\p{N}]*"
    rf"\p{{Ll}}[\p{{L}}\p{{M}}{APOSTROPHES}\-]*[^\p{{L}}\p{{N}}{SPACES}]*(?:[{SPACES}]\C*)?$"
)


def lower(text: tf.Tensor) -> tf.Tensor:
    """Return texts in lowercase, string in the same shape."""
    for capital, small in (("I", "i"), ("İ", "i\u0307")):
        text = tf.strings.regex_replace(text, capital, small)
    return tf.strings.lower(text, encoding="utf-8")


def upper(text: tf.Tensor) -> tf.Tensor:
    """Return texts in capitals, string in the same shape."""
    return tf.strings.upper(tf.strings.regex_replace(text, "i", "I"), encoding="utf-8")


def in_sentence_case(text: tf.Tensor, tags: Sequence[str] = ()) -> tuple[tf.Tensor, tf.Tensor]:
    """Return texts as `sentence_case.in_sentence_case` does, and which are in capitals.

    Args:
        text: Texts, string `[batch]`.
        tags: Tags of the tokenizer.

    Returns:
        The texts, string `[batch]`, and which were in capitals, boolean `[batch]`.
    """
    whole = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")
    start = starts_with(tuple(tags))
    rest = tf.strings.regex_replace(whole, start, "", replace_global=False)
    capitals = tf.strings.regex_full_match(rest, _IN_CAPITALS)
    rest = tf.where(capitals, lower(rest), rest)
    begins = tf.strings.regex_full_match(rest, _FIRST_LETTER)
    begins &= capitals | tf.strings.regex_full_match(rest, _FIRST_OF_WORD)
    begins &= ~tf.strings.regex_full_match(rest, rf"\C*[\p{{Lu}}\p{{Lt}}{_OTHERS}]\C*")
    before, letter, after = (
        tf.strings.regex_replace(rest, _FIRST_LETTER, rf"\{group}") for group in (1, 2, 3)
    )
    rest = tf.where(begins, tf.strings.join([before, upper(letter), after]), rest)
    tags_before = tf.strings.regex_replace(whole, rf"({start})\C*$", r"\1")
    return tf.where(capitals | begins, tf.strings.join([tags_before, rest]), text), capitals

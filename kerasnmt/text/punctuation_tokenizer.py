"""Tokenizer of words and punctuation."""

import keras
import tensorflow as tf

from kerasnmt.text.word_indices import JOINER
from kerasnmt.text.word_tokenizer import WordTokenizer

# A punctuation mark or symbol, with its combining marks. Symbols that are joined by a zero-width
# joiner, and an emoji with its skin tone, are one.
_MARKS = r"[\pM\x{1f3fb}-\x{1f3ff}]*"
_SIGN = rf"[\pP\pS]{_MARKS}(?:\x{{200d}}[\pP\pS]{_MARKS})*"
_PARTS = rf"(?s)^((?:{_SIGN})*)(.*?)((?:{_SIGN})*)$"


@keras.saving.register_keras_serializable("kerasnmt")
class PunctuationTokenizer(WordTokenizer):
    """Tokenizer of words and punctuation, for plain text.

    Text is split at ASCII whitespace. Then each punctuation mark or symbol at the start or the end
    of such a word is a token of its own, and so is a final "'s". A joiner, "￭", stands at its side
    where there is no space:

        "Yes", said Jean-Luc's friend (3.14).
        "￭ Yes ￭" ￭, said Jean-Luc ￭'s friend (￭ 3.14 ￭) ￭.

    Marks and symbols within a word stay: "O'Brien", "3.14" and "http://a.b/c_d" are single tokens.
    So is a word that consists of marks alone, such as "..." or "&&".

    `detokenize` removes the joiners and the spaces at their side. So the tokens of a text give the
    same text, with single spaces between its words, if all of them are in the vocabulary or copied.
    Bytes that are not UTF-8 become U+FFFD, and a "￭" of the text becomes "■".

    Source: the joiner annotation of OpenNMT's Tokenizer.

    Args:
        words: Tokens with ids from 4, in the order of their ids.
        counts: Number of occurrences of each id, from 0, in the training text, or None if unknown.

    Raises:
        ValueError: If `words` has duplicates, empty or reserved words, or words with spaces, or the
            number of counts differs from the number of ids.
    """

    kind = "words_and_punctuation"

    @staticmethod
    def _split(text: tf.Tensor) -> tf.RaggedTensor:
        text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8")
        words = tf.strings.split(tf.strings.regex_replace(text, JOINER, "■"))
        before, word, after = (
            tf.strings.regex_replace(words.flat_values, _PARTS, rf"\{part}") for part in (1, 2, 3)
        )
        apart = tf.strings.join(
            [
                tf.strings.regex_replace(before, _SIGN, rf"\0{JOINER} "),
                tf.strings.regex_replace(word, r"(?s)(.)(['’]s)$", rf"\1 {JOINER}\2"),
                tf.strings.regex_replace(after, _SIGN, rf" {JOINER}\0"),
            ]
        )
        spaced = words.with_flat_values(tf.where(word == "", words.flat_values, apart))
        return tf.strings.split(tf.strings.reduce_join(spaced, axis=-1, separator=" "))

    def _detokenize(self, ids: tf.RaggedTensor, copied: tf.RaggedTensor | None = None) -> tf.Tensor:
        return tf.strings.regex_replace(super()._detokenize(ids, copied), f" ?{JOINER} ?", "")

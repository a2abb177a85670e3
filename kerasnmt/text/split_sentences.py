"""Sentences of a text, in a TensorFlow graph."""

import tensorflow as tf

import kerasnmt.text.tensorflow_on_cpu  # noqa: F401

_END, _NO_END = "\x1e", "\x1f"
_CLOSING = r"(?:[\"'”’)\]]|[\s\x{a0}\x{202f}]?»)*"
_CAPITAL = r"([\"'“‘«„¿¡(\[]*[\s\x{a0}\x{202f}]?[\p{Lu}\p{Lt}\p{Lo}])"
# Titles, and other abbreviations that stand before a name or within a sentence.
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|MM|Mme|Mlle|Dr|Prof|St|Ste|Mt|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Hon|Rev|Gov|Sen|Rep|Herr|Hr|"
    "Fr|Sra|Srta|Dra|Ing|No|Nr|vs|cf|etc|al|[Ff]ig|[Vv]ol|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|"
    "Jul|Aug|Sept?|Oct|Nov|Dec|bzw|usw|ca|[Aa]rt|pp|Ph"
)
# Two letters before the period: initials such as "J. Smith" and "U.S. Army" are no ends.
_PERIOD = (
    rf"([\pL\pN][\pL\pM\pN]|[\"”’»)\]%])((?:\.+|…){_CLOSING})\s+{_CAPITAL}",
    rf"\1\2{_END}\3",
)
_REPLACEMENTS = (
    (f"[{_END}{_NO_END}]", " "),
    (rf"\b({_ABBREVIATIONS})\.\s+", rf"\1.{_NO_END}"),
    _PERIOD,
    _PERIOD,  # again, because a match takes the first letter of the next sentence
    (rf"([!?؟।]+{_CLOSING})\s+{_CAPITAL}", rf"\1{_END}\2"),
    (r"([。！？｡]+[」』”’）]*)\s*", rf"\1{_END}"),
    (_NO_END, " "),
    (rf"{_END}+$", ""),
)


def split_sentences(text: tf.Tensor) -> tf.RaggedTensor:
    """Split texts into sentences.

    The rule is cautious: where it is not sure, it does not split. A sentence ends

    - after `.` or `…` and a space, if the next word begins with a capital letter, or a letter of a
      script without capitals, and the word before has at least two letters and is no common
      abbreviation, such as "Dr." and "etc.";
    - after `!`, `?`, `؟` or `।` and a space, with the same rule for the next word;
    - after `。`, `！` or `？`, also without a space.

    Quotation marks and parentheses that close belong to the sentence before.

    Args:
        text: Texts, string `[batch]`.

    Returns:
        The sentences, string `[batch, (sentences)]`. Each text has at least one.
    """
    for pattern, replacement in _REPLACEMENTS:
        text = tf.strings.regex_replace(text, pattern, replacement)
    return tf.strings.split(text, _END)


def join_sentences(sentences: tf.RaggedTensor) -> tf.Tensor:
    """Join the sentences of each text, with a space, or without one after `。`, `！` or `？`.

    Empty sentences are left out.

    Args:
        sentences: Sentences, string `[batch, (sentences)]`.

    Returns:
        The texts, string `[batch]`.
    """
    text = tf.strings.reduce_join(sentences, axis=-1, separator=_END)
    text = tf.strings.regex_replace(text, f"^{_END}+|{_END}+$", "")
    text = tf.strings.regex_replace(text, rf"([。！？｡][」』”’）]*){_END}+", r"\1")
    return tf.strings.regex_replace(text, f"{_END}+", " ")

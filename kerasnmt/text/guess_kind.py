"""Guess of the kind of tokens."""

from collections.abc import Sequence

from kerasnmt.text.word_indices import JOINER


def guess_kind(text: str, tokens: Sequence[str]) -> str:
    """Guess the kind of tokens for `word_indices`, from a text and its tokens.

    Pieces and characters contain the spaces between words as "▁"; whole words do not. So if a text
    has several words and no token has a "▁", the tokens are whole words, with punctuation apart if
    only the tokens have joiners, "￭". The guess is wrong for whole words of a corpus that contains
    "▁".

    Args:
        text: Text of the tokens.
        tokens: Tokens from `Tokenizer.tokens`.

    Returns:
        `"words"`, `"words_and_punctuation"`, or `"sentencepiece"` for pieces and characters. For a
        single word, all kinds give the same indices.
    """
    if JOINER not in text and any(JOINER in token for token in tokens):
        return "words_and_punctuation"
    several = len(text.encode().split()) > 1  # split like `WordTokenizer`
    return "words" if several and not any("▁" in token for token in tokens) else "sentencepiece"

"""Guess the kind of a sentence's tokens."""

from collections.abc import Sequence


def guess_kind(text: str, tokens: Sequence[str]) -> str:
    """Guess the kind of tokens for `word_indices`, from a text and its tokens.

    Pieces and characters write the spaces between words as "▁", whole words do not. So if a text
    has several words and no token has a "▁", the tokens are whole words. The guess is wrong for
    whole words of a corpus that contains "▁".

    Args:
        text: The text of the tokens.
        tokens: The tokens as a tokenizer's `tokens` writes them.

    Returns:
        `"words"`, or `"sentencepiece"` for pieces and characters. For a single word, both give the
        same indices.
    """
    several = len(text.encode().split()) > 1  # the same split as that of `WordTokenizer`
    return "words" if several and not any("▁" in token for token in tokens) else "sentencepiece"

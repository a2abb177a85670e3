"""Guess of the kind of tokens."""

from collections.abc import Sequence


def guess_kind(text: str, tokens: Sequence[str]) -> str:
    """Guess the kind of tokens for `word_indices`, from a text and its tokens.

    Pieces and characters contain the spaces between words as "▁"; whole words do not. So if a text
    has several words and no token has a "▁", the tokens are whole words. The guess is wrong for
    whole words of a corpus that contains "▁".

    Args:
        text: Text of the tokens.
        tokens: Tokens from `Tokenizer.tokens`.

    Returns:
        `"words"`, or `"sentencepiece"` for pieces and characters. For a single word, both kinds
        give the same indices.
    """
    several = len(text.encode().split()) > 1  # split like `WordTokenizer`
    return "words" if several and not any("▁" in token for token in tokens) else "sentencepiece"

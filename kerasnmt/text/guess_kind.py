"""What a sentence's tokens are, where nobody says it."""

from collections.abc import Sequence


def guess_kind(text: str, tokens: Sequence[str]) -> str:
    """Tells from a text and its tokens how `word_indices` is to read them.

    Pieces and characters write the spaces between words as "▁"; whole words do not. So tokens of a
    text of several words, none with "▁", are whole words. (Words of a corpus that has "▁" itself
    are taken for pieces.)

    Args:
        text: the text that the tokens write.
        tokens: its tokens as a tokenizer's `tokens` writes them.

    Returns:
        `"words"`, or `"sentencepiece"`, as which characters are read too; for a single word both
        give the same indices.
    """
    several = len(text.encode().split()) > 1  # as `WordTokenizer` splits
    return "words" if several and not any("▁" in token for token in tokens) else "sentencepiece"

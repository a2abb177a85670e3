"""Words of tokens, for alignments between words."""

from collections.abc import Sequence

_NO_TEXT = ("", "<s>", "</s>")
_KINDS = ("sentencepiece", "words", "words_and_punctuation", "characters")
JOINER = "￭"  # U+FFED, at the side of a token of `PunctuationTokenizer` without a space


def word_indices(tokens: Sequence[str], kind: str) -> list[int]:
    """Return the index of the word to which each token of a sentence belongs.

    Words are the results of `str.split` on the text of the tokens. An unknown piece or character
    belongs to the word around it, and an unknown word is a word. If a dictionary has turned one
    token into several words, the token belongs to the first of them.

    ```python
    word_indices(["▁Two", "▁dog", "s", ".", "</s>"], "sentencepiece")  # [0, 1, 1, 1, -1]
    ```

    Args:
        tokens: Tokens of one sentence from `Tokenizer.tokens`, with "▁" for a space.
        kind: Kind of the tokens: `"sentencepiece"`, `"words"`, `"words_and_punctuation"` or
            `"characters"`.

    Returns:
        The index of each token's word, counted from 0, or -1 for padding, start, end and single
        spaces.

    Raises:
        ValueError: If `kind` is unknown.
    """
    if kind not in _KINDS:
        raise ValueError(f"Expected kind to be one of {_KINDS}. Received: kind={kind!r}.")
    if kind == "words_and_punctuation":
        tokens, kind = _with_spaces(tokens), "sentencepiece"
    indices, word, at_boundary = [], -1, True
    for token in tokens:
        if token in _NO_TEXT:
            indices.append(-1)
            continue
        if kind == "words":
            at_boundary, text = True, token
        else:
            at_boundary, text = at_boundary or token.startswith("▁"), token.lstrip("▁")
        if not text.strip():
            at_boundary = True
            indices.append(-1)
            continue
        word += at_boundary
        at_boundary = False
        indices.append(word)
        if kind == "words":  # with a dictionary, a token can have several words
            word += len(text.split()) - 1
    return indices


def _with_spaces(tokens: Sequence[str]) -> list[str]:
    """Return tokens with a "▁" for each space instead of joiners where there is none."""
    joins, spaced = True, []
    for token in tokens:
        if token in _NO_TEXT:
            spaced.append(token)
            continue
        text = token.strip(JOINER)
        spaced.append(text if joins or token.startswith(JOINER) else f"▁{text}")
        joins = token.endswith(JOINER)
    return spaced

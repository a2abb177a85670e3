"""Find the whole words of tokens, for alignments between words."""

from collections.abc import Sequence

_NO_TEXT = ("", "<s>", "</s>")
_KINDS = ("sentencepiece", "words", "characters")


def word_indices(tokens: Sequence[str], kind: str) -> list[int]:
    """Return the index of the word that each token of a sentence belongs to.

    Words are the results of `str.split` on the text of the tokens. An unknown token belongs to the
    word around it, but among whole words it is a word of its own. A whole word that a dictionary
    wrote as several words belongs to the first of them.

    ```python
    word_indices(["▁Two", "▁dog", "s", ".", "</s>"], "sentencepiece")  # [0, 1, 1, 1, -1]
    ```

    Args:
        tokens: The tokens of one sentence as a tokenizer's `tokens` writes them, with "▁" for a
            space.
        kind: The kind of the tokens: `"sentencepiece"`, `"words"` or `"characters"`.

    Returns:
        A 0-based index for each token; −1 for padding, start, end and single spaces.

    Raises:
        ValueError: If `kind` is unknown.
    """
    if kind not in _KINDS:
        raise ValueError(f"Expected kind to be one of {_KINDS}. Received: kind={kind!r}.")
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
        if kind == "words":  # a dictionary may have written several words
            word += len(text.split()) - 1
    return indices

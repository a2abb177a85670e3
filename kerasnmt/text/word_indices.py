"""From pieces back to whole words, for alignments that are read by people and by other tools."""

from collections.abc import Sequence

_NO_TEXT = ("", "<s>", "</s>")
_KINDS = ("sentencepiece", "words", "characters")


def word_indices(tokens: Sequence[str], kind: str) -> list[int]:
    """Tells for each token of one sentence which word it belongs to.

    Words are what `str.split` finds in the text that the tokens write. An unknown token continues
    the word that it stands in, except among whole words, where it is one. A whole word that is
    written as several belongs to the first of them.

    ```python
    word_indices(["▁Two", "▁dog", "s", ".", "</s>"], "sentencepiece")  # [0, 1, 1, 1, -1]
    ```

    Args:
        tokens: the tokens of one sentence as a tokenizer's `tokens` writes them, "▁" for a space.
        kind: what the tokens are: `"sentencepiece"`, `"words"` or `"characters"`.

    Returns:
        One 0-based index for each token; −1 for padding, start, end and bare spaces.

    Raises:
        ValueError: if `kind` is none of the three.
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
        if kind == "words":  # one that a dictionary wrote as several
            word += len(text.split()) - 1
    return indices

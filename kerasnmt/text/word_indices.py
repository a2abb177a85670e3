"""Words of tokens, for alignments between words."""

import re
import unicodedata
from collections.abc import Sequence

from kerasnmt.text.tags import is_tag

_NO_TEXT = ("", "<s>", "</s>")
_KINDS = ("sentencepiece", "words", "words_and_punctuation", "characters")
JOINER = "￭"  # U+FFED, at the side of a token of `PunctuationTokenizer` without a space

# A character of a script that is written without spaces between words, as a class of characters in
# the regular expressions of Python and TensorFlow: Thai, Lao, Tibetan, Burmese, Khmer, and from
# CJK radicals to Han, with kana and ideographic punctuation; wide and half-width forms.
UNSPACED = (
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff"
    "\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f\U00020000-\U0003ffff]"
)
# A sentence in such a script that was split into words has spaces between its characters. These
# replacements, one after the other, leave only such characters and the spaces between them.
LEAVE_UNSPACED = ((f"[^▁{UNSPACED[1:]}", " "), ("▁* +▁*( +▁*)*|^▁+|▁+$", ""), ("▁+", "▁"))
LONGEST_MEAN_WORD = 5


def word_indices(tokens: Sequence[str], kind: str) -> list[int]:
    """Return the index of the word to which each token of a sentence belongs.

    Words are the results of `str.split` on the text of the tokens. An unknown piece or character
    belongs to the word around it, and an unknown word is a word. If a dictionary has turned one
    token into several words, the token belongs to the first of them.

    In a script without spaces between words, such as Chinese, Japanese or Thai, each piece or
    character is a word. A token without such characters is also separated from its neighbors
    there. Combining characters belong to the word before them, and tags, such as `<ja>`, to the
    word after them. If a sentence was split into words, so that it has spaces between its
    characters and at most five characters between two spaces on average, its words are those
    between spaces.

    ```python
    word_indices(["▁Two", "▁dog", "s", ".", "</s>"], "sentencepiece")  # [0, 1, 1, 1, -1]
    word_indices(["▁犬", "が", "寝る", "。", "</s>"], "sentencepiece")  # [0, 1, 2, 3, -1]
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
    by_spaces = kind.startswith("words") or _has_spaces("".join(tokens))
    if kind == "words_and_punctuation":
        tokens, kind = _with_spaces(tokens), "sentencepiece"
    indices, word, at_boundary = [], -1, True
    before = ""  # the last character of the word so far
    after_tag = False
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
        if not (by_spaces or after_tag) and re.search(UNSPACED, text[0] + before):
            at_boundary |= not unicodedata.category(text[0]).startswith("M")
        word += at_boundary
        at_boundary, before, after_tag = False, text[-1], is_tag(token)
        indices.append(word)
        if kind == "words":  # with a dictionary, a token can have several words
            word += len(text.split()) - 1
    return indices


def _has_spaces(text: str) -> bool:
    """Return whether spaces separate the words of a text, where "▁" stands for a space."""
    for pattern, replacement in LEAVE_UNSPACED:
        text = re.sub(pattern, replacement, text)
    spaces = text.count("▁")
    letters = len(text) - spaces
    return letters == 0 or 0 < spaces >= letters / LONGEST_MEAN_WORD - 1


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

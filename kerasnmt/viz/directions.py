"""Direction in which texts are read."""

import unicodedata
from collections import Counter
from collections.abc import Iterable


def is_right_to_left(tokens: Iterable[str]) -> bool:
    """Return whether most letters of a sentence are from a script like Arabic or Hebrew.

    Special tokens such as `</s>` do not count.
    """
    kinds = Counter(
        unicodedata.bidirectional(character)
        for token in tokens
        if not token.startswith("<")
        for character in token
    )
    return kinds["R"] + kinds["AL"] > kinds["L"]

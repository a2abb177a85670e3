"""The kinds of tokens that a model has."""

from collections.abc import Mapping, Sequence
from typing import Any


def token_kind(description: Mapping[str, Any], side: str, text: str, tokens: Sequence[str]) -> str:
    """Return the kind of the tokens of a side; where a server tells none, it is guessed.

    Args:
        description: Of the translator.
        side: `"source"` or `"target"`.
        text: What the tokens write.
        tokens: Of the text.
    """
    from kerasnmt.text import guess_kind

    return description.get(f"{side}_kind") or guess_kind(text, tokens)

"""Kinds of the tokens of a model."""

from collections.abc import Mapping, Sequence
from typing import Any


def token_kind(description: Mapping[str, Any], side: str, text: str, tokens: Sequence[str]) -> str:
    """Return the kind of the tokens of a side, or guess it if the server does not describe it.

    Args:
        description: Description of the translator.
        side: `"source"` or `"target"`.
        text: Text of the side.
        tokens: Tokens of the text.
    """
    from kerasnmt.text import guess_kind

    return description.get(f"{side}_kind") or guess_kind(text, tokens)

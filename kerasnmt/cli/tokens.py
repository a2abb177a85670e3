"""Kinds of the tokens of a model."""

from collections.abc import Mapping
from typing import Any


def token_kinds(
    description: Mapping[str, Any], text: str, translation: str, attended: Any
) -> list[str]:
    """Return the kinds of the source and target tokens, and guess those that a server omits.

    Args:
        description: Description of the translator.
        text: Source text.
        translation: Target text.
        attended: The attention between the two; see `Translator.attention`.
    """
    from kerasnmt.text import guess_kind

    sides = (
        ("source", text, attended.source_tokens),
        ("target", translation, attended.target_tokens),
    )
    return [description.get(f"{side}_kind") or guess_kind(*texts) for side, *texts in sides]

"""Warnings and errors of texts without the tag of a language."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from kerasnmt.languages import are_languages, closest_tag
from kerasnmt.text.parts import tags_at_start
from kerasnmt.text.tags import TAG, is_tag, some_tags


def needs_language(description: Mapping[str, Any]) -> bool:
    """Return whether all tags of a model are languages, and none is the default."""
    tags = description.get("source_tags") or []
    return not description.get("default_tags") and are_languages(tags)


def lacks_language(text: str, description: Mapping[str, Any]) -> bool:
    """Return whether a text, which may begin with tags, lacks the language that its model needs."""
    needed = bool(text.strip()) and needs_language(description)
    return needed and not tags_at_start(text, description["source_tags"])


def check_languages(texts: Sequence[str], description: Mapping[str, Any]) -> None:
    """Raise a `ValueError` if a text lacks a language tag; see `lacks_language`."""
    for number, text in enumerate(texts):
        if lacks_language(text, description):
            row = f" in row {number}" if len(texts) > 1 else ""
            raise ValueError(
                "Expected the tag of a language in front of each text: "
                f"{some_tags(description['source_tags'])}. Received: {text!r:.60}{row}."
            )


def warn_of_languages(texts: Sequence[str], description: Mapping[str, Any]) -> None:
    """Warn of texts without a tag, and with an unknown one, if all tags of a model are languages.

    Args:
        texts: Texts, with their tags.
        description: Description of the model.
    """
    tags = description.get("source_tags") or []
    if not are_languages(tags):
        return
    for number, text in enumerate(texts, 1):
        found = TAG.match(text[len(tags_at_start(text, tags)) :].lstrip())
        if found and is_tag(found[0]):
            closest = closest_tag(found[0], tags)
            hint = f"did you mean {closest}?" if closest else f"it knows {some_tags(tags)}"
            warnings.warn(
                f"text {number} begins with {found[0]}, which is not a tag of this model and is "
                f"read as text; {hint}",
                stacklevel=6,
            )
            return
    untagged = [n for n, text in enumerate(texts, 1) if lacks_language(text, description)]
    if untagged:
        warnings.warn(
            f"text {untagged[0]}, and perhaps others, has no language tag, such as {tags[0]}, "
            "which this model needs",
            stacklevel=6,
        )

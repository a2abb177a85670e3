"""Warnings of texts without the tag of a language."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from kerasnmt.languages import are_languages, closest_tag
from kerasnmt.text.parts import tags_at_start
from kerasnmt.text.tags import TAG, is_tag, some_tags


def warn_of_languages(texts: Sequence[str], description: Mapping[str, Any]) -> None:
    """Warn of texts without a tag, and with an unknown one, if all tags of a model are languages.

    Args:
        texts: Texts, with their tags.
        description: Description of the model.
    """
    tags = description.get("source_tags") or []
    if not are_languages(tags):
        return
    starts = [tags_at_start(text, tags) for text in texts]
    for number, (text, start) in enumerate(zip(texts, starts, strict=True), 1):
        found = TAG.match(text[len(start) :].lstrip())
        if found and is_tag(found[0]):
            closest = closest_tag(found[0], tags)
            hint = f"did you mean {closest}?" if closest else f"it knows {some_tags(tags)}"
            warnings.warn(
                f"text {number} begins with {found[0]}, which is not a tag of this model and is "
                f"read as text; {hint}",
                stacklevel=6,
            )
            return
    rows = zip(texts, starts, strict=True)
    untagged = [n for n, (text, start) in enumerate(rows, 1) if text.strip() and not start]
    if untagged and not description.get("default_tags"):
        warnings.warn(
            f"text {untagged[0]}, and perhaps others, has no language tag, such as {tags[0]}, "
            "which this model needs",
            stacklevel=6,
        )

"""The options of translation from text to text, beside those of the search."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TranslationOptions:
    """Options of a translation that the search over ids does not know.

    Recipes and the command line's help are made from the fields, whose `metadata` hold a
    `description`, as those of `kerasnmt.decoding.SearchOptions` do.
    """

    replace_unknown: bool = field(
        default=False,
        metadata={"description": "Whether unknown words become the source words they attend to."},
    )
    dictionary: Mapping[str, str] | None = field(
        default=None,
        metadata={"description": "How source words are spelled where they replace unknown ones."},
    )

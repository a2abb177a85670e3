"""Options of a translation from text to text, in addition to the options of the search."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TranslationOptions:
    """Options of a translation that are not options of the search over ids.

    Recipes and the help of the command line are made from the fields. The `metadata` of each field
    contains a `description`, as in `kerasnmt.decoding.SearchOptions`.

    Raises:
        ValueError: If an option has a wrong type.
    """

    replace_unknown: bool = field(
        default=False,
        metadata={"description": "Whether unknown words become the source words they attend to."},
    )
    dictionary: Mapping[str, str] | None = field(
        default=None,
        metadata={"description": "Translations of the source words that replace unknown words."},
    )
    split_sentences: bool = field(
        default=False,
        metadata={"description": "Whether the sentences of a text are translated one by one."},
    )

    def __post_init__(self) -> None:
        for name in ("replace_unknown", "split_sentences"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ValueError(f"Expected True or False as {name}. Received: {name}={value!r}")

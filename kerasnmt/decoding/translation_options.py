"""Options of a translation from text to text."""

from collections.abc import Mapping
from dataclasses import dataclass

from kerasnmt.decoding.search_options import SearchOptions, described, option


@described
@dataclass(frozen=True)
class TranslationOptions(SearchOptions):
    """Options of the search, and of the translation of texts around it.

    Recipes, presets and the command line take these options.
    """

    replace_unknown: bool = option(
        False, "Whether unknown words become the source words they attend to."
    )
    dictionary: Mapping[str, str] | None = option(
        None, "Translations of the source words that replace unknown words."
    )
    split_sentences: bool = option(
        False, "Whether the sentences of a text are translated one by one."
    )
    shortlist: bool = option(
        False, "Whether translations consist of likely tokens, those of the model's shortlist."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dictionary and not self.replace_unknown:
            raise ValueError(
                "Expected replace_unknown=True with a dictionary. Received: replace_unknown=False"
            )
        words = [word for pair in (self.dictionary or {}).items() for word in pair]
        if not all(isinstance(word, str) and word for word in words):
            raise ValueError(
                "Expected a dictionary from source words to target words, without empty words. "
                f"Received: dictionary={self.dictionary!r:.200}"
            )

"""Options of a translation from text to text."""

from collections.abc import Mapping
from dataclasses import dataclass

from kerasnmt.decoding.search_options import SearchOptions, described, option


@described
@dataclass(frozen=True)
class TranslationOptions(SearchOptions):
    """Options of the search, and of the translation of texts around it.

    Recipes, presets and the command line take these options.

    - With `replace_unknown`, an unknown word becomes the source word with the largest attention
      weight, or its entry in `dictionary`. The model must not copy.
    - The rule of `split_sentences` is cautious, and does not split after abbreviations;
      `kerasnmt.text.split_sentences` documents it. Tags at the start of a text stand in front of
      each sentence. The translations are joined.
    - `split_words` does the same for words, without the punctuation marks and symbols around them.
    - With `sentence_case`, the model reads a text in capitals, or without any, as a sentence with a
      capital letter at the start. The translation of a text in capitals is in capitals, unless it
      has terms, a prefix with lowercase letters, or is in the lexicon; its tokens are those of the
      model. If texts are split, this holds for each part. `kerasnmt.text.sentence_case` documents
      the rule.
    - A text is looked up in `lexicon` without its tags, in any Unicode form, with either
      apostrophe, and then in lowercase. A warning names entries that splitting makes unreachable.
    - With `shortlist`, translations consist of the tokens that the model's shortlist has for the
      texts of a batch; see `TranslationModel.make_shortlist`. This is faster for a large
      vocabulary. A translation can then depend on the other texts of its batch.
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
    split_words: bool = option(
        False, "Whether the words of a text are translated one by one, for models of words."
    )
    sentence_case: bool = option(
        False, "Whether texts in capitals, or without any, are read as ordinary sentences."
    )
    lexicon: Mapping[str, str] | None = option(
        None, "Answers to texts, or to their words with split_words, that are looked up."
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
        if self.split_sentences and self.split_words:
            raise ValueError(
                "Expected texts split into sentences or words. Received: split_sentences=True and "
                "split_words=True"
            )
        for name in ("dictionary", "lexicon"):
            entries = getattr(self, name) or {}
            words = [word for pair in entries.items() for word in pair]
            if not all(isinstance(word, str) and word for word in words):
                raise ValueError(
                    f"Expected a {name} from source words to target words, without empty words. "
                    f"Received: {name}={entries!r:.200}"
                )

"""Base class of models that translate text."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerasnmt.calibration import Calibration
from kerasnmt.columns import as_texts, check_same_length
from kerasnmt.decoding import SearchOptions
from kerasnmt.models.search_model import SearchModel
from kerasnmt.models.text_model import TextModel


class TranslationModel(TextModel, SearchModel):
    """Base class of models that translate, score and align texts, and show their attention.

    `Seq2Seq` and `Ensemble` are such models. The methods that take texts need tokenizers, and Keras
    on TensorFlow or JAX. `export` needs TensorFlow.

    Args:
        source_tokenizer: A `kerasnmt.text` tokenizer, or None if the model takes only ids.
        target_tokenizer: Tokenizer of the targets, or None for the source tokenizer.
    """

    # Whether the model reads a context in addition to the source.
    reads_context: bool = False

    def __init__(
        self, source_tokenizer: Any = None, target_tokenizer: Any = None, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer or source_tokenizer

    @property
    def request_fields(self) -> tuple[str, ...]:
        """Fields of a request: `text`, and `context` if the model reads a context."""
        return ("text", "context") if self.reads_context else ("text",)

    def translate(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        prefixes: Sequence[str] | None = None,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        split_sentences: bool = False,
        batch_size: int = 64,
        **options,
    ) -> list[str]:
        """Translate texts. An export gives the same translations.

        Args:
            texts: Sentences. An empty text has an empty translation. A text with more than
                `max_length` tokens is truncated, with a warning.
            contexts: Context of each text, which may be empty, if the model reads contexts.
                Contexts are truncated to 1,000 tokens.
            prefixes: Words with which each translation must begin, or an empty string for any
                words. None for no prefixes. Words outside the vocabulary become the unknown word.
            replace_unknown: Whether to replace each unknown word of a translation by the source
                word with the largest attention weight. The model must not copy.
            dictionary: Translations of source words that replace unknown words. Source words that
                are not in the dictionary are copied.
            split_sentences: Whether each text is split into sentences, which are translated one by
                one and joined. The rule is cautious, and does not split after abbreviations;
                `kerasnmt.text.split_sentences` documents it.
            batch_size: Number of texts in a batch.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            The translations, in the order of the texts.

        Raises:
            ValueError: If the model has no tokenizers, an option is out of range, `texts` is one
                string, the numbers of texts, prefixes and contexts differ, the model reads contexts
                but there are none, or the Keras backend is not TensorFlow or JAX.
        """
        SearchOptions.from_keywords(options)  # check that there are no other keywords
        translator = self._translator(
            replace_unknown=replace_unknown,
            dictionary=dictionary,
            split_sentences=split_sentences,
            **options,
        )
        return translator.translate(
            texts, contexts=contexts, prefixes=prefixes, batch_size=batch_size
        )

    def attention(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> Any:
        """Translate texts, and return the attention weights of the translations.

        The result displays itself as a figure in a notebook, and as shaded cells in a terminal.

        ```python
        model.attention("two dogs run .")  # shows a table
        model.attention("two dogs run .").figure().savefig("attention.png")
        ```

        Args:
            texts: Sentences, or one sentence.
            contexts: Context of each text, if the model reads contexts. One string if `texts` is
                one string.
            batch_size: Number of texts in a batch.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            A list with a `kerasnmt.tasks.SentenceAttention` for each text, or one object if `texts`
            is one string. It has the tokens of the text and of its best translation, and the
            weights between them. Its `by_words` merges pieces or characters into words.

        Raises:
            ValueError: If the model has no attention, or for the reasons in `translate`.
        """
        if isinstance(texts, str):
            context: Any = None if contexts is None else [contexts]
            return self.attention([texts], contexts=context, batch_size=batch_size, **options)[0]
        self._need_tokenizers()
        self._need_attention()
        SearchOptions.from_keywords(options)  # check that there are no other keywords
        translator = self._translator(**options)
        return translator.attention(texts, contexts=contexts, batch_size=batch_size)

    def confidence(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> Any:
        """Translate texts, and return how sure the model is of each word.

        After the search, one pass over the best translation gives the probabilities of all tokens
        in the place of each of its tokens. It needs memory for float32
        `[batch_size, target_length, vocabulary]`.

        ```python
        sure = model.confidence("two dogs run .")
        dict(zip(sure.words, sure.probabilities))
        ```

        Args:
            texts: Sentences, or one sentence.
            contexts: Context of each text, if the model reads contexts. One string if `texts` is
                one string.
            batch_size: Number of texts in a batch.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`, and
                `replace_unknown`, `dictionary` and `split_sentences` of `translate`.

        Returns:
            A list with a `kerasnmt.tasks.Confidence` for each text, or one object if `texts` is one
            string. It has the words of the best translation with their probabilities, entropies and
            margins and, if the model has a `calibration`, the probability that each word is right.

        Raises:
            ValueError: For the reasons in `translate`.
        """
        if isinstance(texts, str):
            context: Any = None if contexts is None else [contexts]
            return self.confidence([texts], contexts=context, batch_size=batch_size, **options)[0]
        translator = self._translator(**options)
        return translator.confidence(texts, contexts=contexts, batch_size=batch_size)

    def calibrate(
        self,
        sources: Sequence[str],
        references: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> Calibration:
        """Fit the calibration of the model to sentences with known translations, and keep it.

        A few hundred sentences that the model was not trained on are enough. The model translates
        them, and its `calibration` says how often words of a given probability are right. Saved
        models, presets and exports keep it. `kerasnmt train` does this with validation data.

        Args:
            sources: Source sentences.
            references: Reference translation of each source.
            contexts: Context of each source, if the model reads contexts.
            batch_size: Number of texts in a batch.
            **options: See `confidence`.

        Returns:
            The calibration.

        Raises:
            ValueError: If the numbers of sources and references differ, no translation has words,
                or for the reasons in `translate`.
        """
        references = as_texts("references", references)
        found = self.confidence(
            as_texts("sources", sources), contexts=contexts, batch_size=batch_size, **options
        )
        check_same_length("references", references, "sources", len(found))
        self.calibration = Calibration.fit(found, references)
        self._translators.clear()  # they have copies of the description
        return self.calibration

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[float]:
        """Return the log-probabilities of given translations, to rerank or filter them.

            log p(target | source) = sum_t log p(y_t | y_1 ... y_{t-1}, source)

        The sum includes the end token, and there is no length penalty. Longer translations have
        lower scores. To compare translations of different lengths, divide the scores by the numbers
        of words.

        Args:
            sources: Source sentences.
            targets: Translation of each source.
            contexts: Context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            The natural logarithm of the probability of each pair, in order.

        Raises:
            ValueError: If the model has no tokenizers, the numbers of sources, targets and contexts
                differ, `batch_size` is below 1, or the Keras backend is not TensorFlow or JAX.
        """
        return self._translator().score(sources, targets, contexts=contexts, batch_size=batch_size)

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[list[tuple[int, int]]]:
        """Align the words of sources with the words of given translations, by attention.

        Each target word is linked to the source word that it attends to most. Weights are
        averaged over the pieces of a target word, and summed over the pieces of a source word.

        Args:
            sources: Source sentences.
            targets: Translation of each source.
            contexts: Context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            For each pair, a list of links (source word, target word), counted from 0. Words are
            split at whitespace. `kerasnmt.alignment` writes links in the Pharaoh format, and scores
            them.

        Raises:
            ValueError: If the model has no attention, or for the reasons in `score`.
        """
        self._need_tokenizers()
        self._need_attention()
        return self._translator().align(sources, targets, contexts=contexts, batch_size=batch_size)

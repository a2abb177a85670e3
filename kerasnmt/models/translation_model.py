"""The base of models that translate text."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerasnmt.decoding import SearchOptions
from kerasnmt.models.search_model import SearchModel
from kerasnmt.models.text_model import TextModel


class TranslationModel(TextModel, SearchModel):
    """Translate, score and align texts, and show their attention.

    `Seq2Seq` and `Ensemble` are such models. The methods on text need tokenizers, and Keras on
    TensorFlow or JAX; `export` needs TensorFlow.

    Args:
        source_tokenizer: A `kerasnmt.text` tokenizer, or None if the model takes only ids.
        target_tokenizer: Tokenizer of the targets; None for the source's.
    """

    # Whether the model reads a second text, the context of its source.
    reads_context: bool = False

    def __init__(
        self, source_tokenizer: Any = None, target_tokenizer: Any = None, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer or source_tokenizer

    @property
    def request_fields(self) -> tuple[str, ...]:
        """The fields of a request: `text`, and `context` if the model reads one."""
        return ("text", "context") if self.reads_context else ("text",)

    def translate(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        prefixes: Sequence[str] | None = None,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> list[str]:
        """Translate texts, with the same task that `export` writes.

        Args:
            texts: The sentences. An empty text gives an empty translation. A text of more than
                `max_length` tokens is cut, with a warning.
            contexts: The context of each text, which may be empty, if the model reads contexts. A
                context is cut after 1,000 tokens.
            prefixes: The words that each translation begins with, or an empty text for any
                beginning; None for no prefixes. Words outside the vocabulary become the unknown
                word.
            replace_unknown: Whether to replace each unknown word of a translation by the source
                word with the largest attention weight. The model must not copy.
            dictionary: The translations of source words that replace unknown words. A word that it
                lacks is written as it is.
            batch_size: Number of texts in a batch.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            The translation of each text, in order.

        Raises:
            ValueError: If the model has no tokenizers, an option is out of range, `texts` is one
                string, the numbers of texts, prefixes and contexts differ, contexts are missing
                although the model reads them, or Keras runs on a backend other than TensorFlow and
                JAX.
        """
        SearchOptions.from_keywords(options)  # refuses all other keywords
        translator = self._translator(
            replace_unknown=replace_unknown, dictionary=dictionary, **options
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

        The result shows itself: as a picture in a notebook, as shaded cells in a terminal.

        ```python
        model.attention("two dogs run .")  # shows a table
        model.attention("two dogs run .").figure().savefig("attention.png")
        ```

        Args:
            texts: The sentences, or one sentence.
            contexts: The context of each text, if the model reads contexts; one string if `texts`
                is one.
            batch_size: Number of texts in a batch.
            **options: Options of `kerasnmt.decoding.SearchOptions`, such as `beam_size=5`.

        Returns:
            For each text a `kerasnmt.tasks.SentenceAttention`, with the tokens of the text and of
            its best translation, and the weights between them. One object if `texts` is one string.
            `by_words` merges its pieces or characters into words.

        Raises:
            ValueError: If the model has no attention, and as in `translate`.
        """
        if isinstance(texts, str):
            context: Any = None if contexts is None else [contexts]
            return self.attention([texts], contexts=context, batch_size=batch_size, **options)[0]
        self._need_tokenizers()
        self._need_attention()
        SearchOptions.from_keywords(options)  # refuses all other keywords
        translator = self._translator(**options)
        return translator.attention(texts, contexts=contexts, batch_size=batch_size)

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[float]:
        """Return the log-probabilities of given translations, to rerank or filter them.

        log p(target | source) = sum_t log p(y_t | y_1 ... y_{t-1}, source), with the end token and
        without a length penalty. Longer translations have lower scores. To compare translations of
        different lengths, divide by their numbers of words.

        Args:
            sources: The source sentences.
            targets: The translation of each source.
            contexts: The context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            The natural logarithm of each pair's probability, in order.

        Raises:
            ValueError: If the model has no tokenizers, the numbers of sources, targets and contexts
                differ, `batch_size` is below 1, or Keras runs on a backend other than TensorFlow
                and JAX.
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

        Each target word is linked with the source word that it attends to most. The attention of a
        word is that of its pieces.

        Args:
            sources: The source sentences.
            targets: The translation of each source.
            contexts: The context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            For each pair the links (source word, target word), counted from 0. Words are split at
            whitespace. `kerasnmt.viz` writes links in the Pharaoh format and scores them.

        Raises:
            ValueError: If the model has no attention, and as in `score`.
        """
        self._need_tokenizers()
        self._need_attention()
        return self._translator().align(sources, targets, contexts=contexts, batch_size=batch_size)

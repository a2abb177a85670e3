"""Base class of models that translate text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kerasnmt import hooks
from kerasnmt.calibration import Calibration
from kerasnmt.columns import as_texts, check_same_index, check_same_length
from kerasnmt.decoding import TranslationOptions
from kerasnmt.models.search_model import SearchModel
from kerasnmt.models.text_model import TextModel
from kerasnmt.shortlist import Shortlist
from kerasnmt.sizes import check_size


class TranslationModel(TextModel, SearchModel):
    """Base class of models that translate, score and align texts, and show their attention.

    `Seq2Seq` and `Ensemble` are such models. The methods that take texts need tokenizers, and Keras
    on TensorFlow or JAX. `export` needs TensorFlow.

    Args:
        source_tokenizer: A `kerasnmt.text` tokenizer, or None if the model takes only ids.
        target_tokenizer: Tokenizer of the targets, or None for the source tokenizer.
    """

    options_class = TranslationOptions
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
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        prefixes: str | Sequence[str] | None = None,
        terms: Sequence[Any] | None = None,
        forbidden: Sequence[Any] | None = None,
        glossary: Mapping[str, str | Sequence[str]] | Any = None,
        batch_size: int = 64,
        **options,
    ) -> Any:
        """Translate texts. An export gives the same translations.

        Args:
            texts: Sentences, or one sentence. An empty text has an empty translation. A text with
                more than `max_length` tokens is truncated, with a warning. Sentences may be in any
                container, such as a list, a generator or a pandas Series.
            contexts: Context of each text, which may be empty, if the model reads contexts. One
                string if `texts` is one string. Contexts are truncated to 1,000 tokens.
            prefixes: Words with which each translation must begin, or an empty string for any
                words, like `contexts`. None for no prefixes. Words outside the vocabulary become
                the unknown word. If texts are split, one with a prefix must be a single part. A
                prefix with more than `max_length` tokens is truncated, with a warning.
            terms: Terms that each translation must contain as whole words: for each text, a list
                of terms, or for one string its list. A term is a text, or a list of alternatives,
                such as its inflected forms, of which one must occur. A text whose terms do not fit
                into `max_length` is translated without them. A warning names the terms that
                translations lack for this reason, or because the model cannot write them.
                Terms are in the spelling of the translation, with capital letters.
            forbidden: Texts that must not occur in each translation as whole words, a list for each
                text.
            glossary: A dict from source terms to target terms, or a `kerasnmt.text.Glossary`. The
                translation of each text that contains a source term as whole words must contain
                the target term, or one of its alternatives.
            batch_size: Number of texts in a batch.
            **options: Options of `kerasnmt.decoding.TranslationOptions`, such as `beam_size=5`. The
                model's `search_options` hold for those that are left out.

        Returns:
            The translations, a list in the order of the texts; for one string, its translation;
            for a pandas Series, a Series with the same index.

        Raises:
            ValueError: If the model has no tokenizers, an option is out of range, the numbers of
                texts, prefixes, terms and contexts differ, the model reads contexts but there are
                none, there are terms with `samples`, a text of several parts has terms or a prefix,
                the model has no shortlist but shall use one, or the Keras backend is not TensorFlow
                or JAX.
        """
        return self._searcher(options).translate(
            texts,
            contexts=contexts,
            prefixes=prefixes,
            terms=terms,
            forbidden=forbidden,
            glossary=glossary,
            batch_size=batch_size,
        )

    def n_best(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> Any:
        """Return all translations of each text in the beam, or all samples, with their scores.

        ```python
        model.n_best("two dogs run .", beam_size=3)
        # [("deux chiens courent .", -0.41), …]
        ```

        Args:
            texts: See `translate`.
            contexts: See `translate`.
            batch_size: Number of texts in a batch.
            **options: See `translate`. A text is not split, and not looked up in a lexicon. With
                `split_words`, it must be one word.

        Returns:
            For each text, or for one string, a list of different pairs (translation, score), best
            first. The score is the log-probability divided by the length penalty.

        Raises:
            ValueError: For the reasons in `translate`.
        """
        translator = self._searcher_of_whole_texts(options)
        return translator.n_best(texts, contexts=contexts, batch_size=batch_size)

    def stream(
        self,
        text: str,
        *,
        context: str | None = None,
        prefix: str | None = None,
        **options,
    ) -> Iterator[str]:
        """Translate one text, and return an iterator of pieces of the translation as they are made.

        The pieces together are the translation of `translate` with the same options. Greedy search
        and one sample give each word when the next one begins, or at once if the tokens are words.
        A beam search gives the words that all hypotheses share which can still be, or begin, the
        best one. So nothing is ever taken back, and no word or character is cut. In scripts without
        spaces between words, each character is a piece.

        ```python
        for piece in model.stream("two dogs run ."):
            print(piece, end="", flush=True)
        ```

        Args:
            text: Sentence to translate.
            context: Context of the text, if the model reads contexts.
            prefix: Words with which the translation must begin, or None for any words.
            **options: See `translate`. The parts of a text that is split follow each other. With
                `beam_size=1` the words come soonest. At most one sample.

        Returns:
            An iterator of pieces, which are not empty. An empty text has none.

        Raises:
            ValueError: If `text` is not one string, there are several samples, or for the reasons
                in `translate`.
        """
        translator = self._searcher(options)
        return translator.stream(text, context=context, prefix=prefix)

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
            **options: See `n_best`.

        Returns:
            A `kerasnmt.tasks.SentenceAttention` for each text, or one if `texts` is one string. It
            has the tokens of the text and of its best translation, and the weights between them.
            Its `by_words` merges pieces or characters into words.

        Raises:
            ValueError: If the model has no attention, or for the reasons in `translate`.
        """
        self._need_tokenizers()
        self._need_attention()
        translator = self._searcher_of_whole_texts(options)
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
            **options: See `translate`.

        Returns:
            A list with a `kerasnmt.tasks.Confidence` for each text, or one object if `texts` is one
            string. It has the words of the best translation with their probabilities, entropies and
            margins and, if the model has a `calibration`, the probability that each word is right.

        Raises:
            ValueError: For the reasons in `translate`.
        """
        translator = self._searcher(options)
        return translator.confidence(texts, contexts=contexts, batch_size=batch_size)

    def n_best_confidence(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        **options,
    ) -> Any:
        """Return the translations of `n_best`, and how sure the model is of each of their words.

        One pass over all translations needs memory for float32
        `[batch_size * beam_size, target_length, vocabulary]`.

        ```python
        for one in model.n_best_confidence("two dogs run .", beam_size=3):
            print(one.text, one.score, one.of_text)
        ```

        Args:
            texts: See `n_best`.
            contexts: See `n_best`.
            batch_size: Number of texts in a batch.
            **options: See `n_best`.

        Returns:
            For each text, or for one string, a list of `kerasnmt.tasks.Confidence`, best first.

        Raises:
            ValueError: For the reasons in `translate`.
        """
        translator = self._searcher_of_whole_texts(options)
        return translator.n_best_confidence(texts, contexts=contexts, batch_size=batch_size)

    def set_language(self, language: str) -> None:
        """Read each source without a tag as a text in one of the languages that the model knows.

        Saved models, presets and exports keep this.

        ```python
        model = from_preset("g2p")
        model.set_language("de")
        model.translate(["Haus", "<nld>huis"])  # the second word is Dutch
        ```

        Args:
            language: Code of ISO 639-1 or 639-3, such as "de" or "deu", of a language that the
                source tokenizer has a tag for; see `kerasnmt.text.with_tags`.

        Raises:
            ValueError: If there is no such language, the model has no tag for it, or the model has
                no tokenizers.
        """
        self._need_tokenizers()
        tokenizer = self.source_tokenizer.for_language(language)
        if self.target_tokenizer is self.source_tokenizer:
            self.target_tokenizer = tokenizer  # whose targets have no default tags
        self.source_tokenizer = tokenizer

    def _searcher_of_whole_texts(self, options: dict[str, Any]) -> Any:
        """Return a translator with these options, which does not split texts or look them up."""
        return self._searcher(options, ("split_sentences", "lexicon"))

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
            ValueError: If the numbers of sources and references differ, the translations have no
                words, or all are right, or all are wrong, or for the reasons in `translate`.
        """
        check_same_index(sources=sources, references=references, contexts=contexts)
        references = as_texts("references", references)
        found = self.confidence(
            as_texts("sources", sources), contexts=contexts, batch_size=batch_size, **options
        )
        check_same_length("references", references, "sources", len(found))
        self.calibration = Calibration.fit(found, references)
        return self.calibration

    def make_shortlist(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        size: int = 50,
        frequent: int = 100,
    ) -> Shortlist:
        """Make the vocabulary shortlist of the model from training pairs, and keep it.

        It has the most probable target tokens of each source token, by IBM model 1, and the most
        frequent target tokens. `translate(texts, shortlist=True)` writes only tokens that it has
        for the sources of a batch, which makes the output layer of a search smaller. Saved models
        and presets keep it.

        Args:
            sources: Source sentences.
            targets: Translation of each source.
            size: Maximum number of target tokens of each source token.
            frequent: Number of the most frequent target tokens.

        Returns:
            The shortlist.

        Raises:
            ValueError: If the model has no tokenizers or its decoder cannot use a shortlist, the
                numbers of sources and targets differ, or there are no words.
        """
        self._need_tokenizers()
        check_same_index(sources=sources, targets=targets)
        sources, targets = as_texts("sources", sources), as_texts("targets", targets)
        check_same_length("targets", targets, "sources", len(sources))
        check_size("size", size)
        check_size("frequent", frequent, least=0)
        self.shortlist = hooks.make_shortlist(self, sources, targets, size, frequent)
        return self.shortlist

    def score(
        self,
        sources: str | Sequence[str],
        targets: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        normalize: bool = False,
        batch_size: int = 64,
    ) -> Any:
        """Return the log-probabilities of given translations, to rerank or filter them.

            log p(target | source) = sum_t log p(y_t | y_1 ... y_{t-1}, source)

        The sum includes the end token, and there is no length penalty. Longer translations have
        lower scores. To compare translations of different lengths, set `normalize`. If the model's
        `search_options` have `sentence_case`, the model reads both texts in it.

        Args:
            sources: Source sentences, or one sentence.
            targets: Translation of each source. One string if `sources` is one string.
            contexts: Context of each source, if the model reads contexts.
            normalize: Whether to divide by the number of target tokens, including the end token.
            batch_size: Number of pairs in a batch.

        Returns:
            The natural logarithm of the probability of each pair, in order; one number for one
            pair.

        Raises:
            ValueError: If the model has no tokenizers, the numbers of sources, targets and contexts
                differ, `batch_size` is below 1, or the Keras backend is not TensorFlow or JAX.
        """
        return self._reader().score(
            sources, targets, contexts=contexts, normalize=normalize, batch_size=batch_size
        )

    def align(
        self,
        sources: str | Sequence[str],
        targets: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> Any:
        """Align the words of sources with the words of given translations, by attention.

        Each target word is linked to the source word that it attends to most. Weights are
        averaged over the pieces of a target word, and summed over the pieces of a source word. The
        model reads the texts as `score` does.

        Args:
            sources: Source sentences, or one sentence.
            targets: Translation of each source. One string if `sources` is one string.
            contexts: Context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            For each pair, or for one pair, a list of links (source word, target word), counted from
            0. Words are split at white space; in scripts without spaces, they are tokens (see
            `kerasnmt.text.word_indices`). `kerasnmt.alignment` writes links in the Pharaoh format,
            and scores them.

        Raises:
            ValueError: If the model has no attention, or for the reasons in `score`.
        """
        self._need_tokenizers()
        self._need_attention()
        return self._reader().align(sources, targets, contexts=contexts, batch_size=batch_size)

    def _reader(self) -> Any:
        """Return a translator that reads given pairs in the case of the model's translations."""
        return self._translator(sentence_case=self.search_options.get("sentence_case", False))

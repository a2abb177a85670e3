"""Requests to a model, an export or a server about many texts, images or stories."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kerasnmt.columns import (
    as_list,
    as_string,
    as_texts,
    check_same_index,
    check_same_length,
    first_few,
)
from kerasnmt.png import png_of
from kerasnmt.sizes import check_size
from kerasnmt.tasks.confidence import Confidence
from kerasnmt.tasks.language_tags import warn_of_languages
from kerasnmt.tasks.one_or_many import one_or_many
from kerasnmt.tasks.sentence_attention import SentenceAttention, decode
from kerasnmt.tasks.served_model import ABSENT_SCORE, Progress, ServedModel
from kerasnmt.tasks.wanted_terms import (
    Sentence,
    TermLists,
    check_terms,
    checked_parts,
    term_lines,
    warn_of_unmet,
)
from kerasnmt.text.glossary import Glossary
from kerasnmt.text.parts import Parts
from kerasnmt.text.sentence_ends import join_texts
from kerasnmt.text.term_lines import joined_lines, parse_terms


class Translator:
    """Client of a model that asks about lists of texts, images or stories, in batches.

    Batches have rows of similar length. Results are in the order of the rows. Texts that are longer
    than the search allows are truncated, with a warning if the model counts tokens. Texts may be in
    a list, a tuple, an array, a pandas Series, a generator or a tensor. A Series gives a Series of
    results with the same index. One string gives the result of this text alone; its context, prefix
    or target is then one string, too.

    Args:
        model: A task of `kerasnmt.tasks`, such as `TranslationTask(model)`; the result of
            `load_export`, `load_lite` or `kerasnmt.runtime.load_onnx`; a `RestClient`; or a
            `GrpcClient`.
        low_score: Score below which a translation is doubtful, because nearly all sentences of the
            test data score higher; see `TextModel.save_to_preset`. `ask`, `best` and `stream` warn
            of such texts, unless a prefix or terms change the scores. None for no warning.

    Attributes:
        description: Facts about the model, such as `beam_size`; see `ServedModel`.
        fields: Names of the fields of a request.
    """

    def __init__(self, model: ServedModel, low_score: float | None = None) -> None:
        self._model = model
        self._low_score = low_score
        self._functions: dict[str, Callable] = {}
        self.description = model.description
        self.fields = model.fields

    def ask(
        self,
        request: Mapping[str, Sequence[str | bytes]],
        *,
        batch_size: int = 64,
        first_number: int | None = 1,
    ) -> list[tuple[str, float]]:
        """Return the best answer to each row of a request, with its score.

        Args:
            request: Dict with a column for each field of the model: `text`, and `context` if the
                model reads a context; `image`, the contents of PNG or JPEG files; or `story`, with
                one sentence per line, and `question`.
            batch_size: Number of rows in a batch.
            first_number: Number of the first row in warnings, or None for no warnings.

        Returns:
            A list of pairs (answer, score), one for each row. The answer is a translation, a
            caption or the answer to a question.

        Raises:
            ValueError: If the model has other fields, a column is one string, the columns differ
                in length, or the model splits a text that has a prefix into several parts.
        """
        check_same_index(**request)
        columns = {field: as_list(field, column, "rows") for field, column in request.items()}
        first, *others = [*columns] or ["text"]
        for name in others:
            check_same_length(f"rows of {name}", columns[name], f"of {first}", len(columns[first]))
        if "prefix" in columns:
            self._check_request("forced_prefix", columns)
            parts = self._parts(columns["text"], columns["prefix"], first_number)
            of_texts = self._of_parts(
                "forced_prefix", columns, parts, _answers, batch_size, first_number
            )
            answers = [*map(_joined, of_texts)]
            if first_number is not None:
                _warn_of_cut_prefixes(columns["prefix"], answers, first_number)
            return answers
        answers = self._run("serving_default", columns, _answers, batch_size, first_number)
        if first_number is not None and self._low_score is not None:
            texts = columns[self.fields[0]]
            self._warn_of_low_scores(texts, answers, self._low_score, first_number)
        return answers

    @one_or_many
    def translate(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        prefixes: str | Sequence[str] | None = None,
        terms: TermLists | None = None,
        forbidden: Sequence[Any] | None = None,
        glossary: Glossary | Mapping[str, Any] | None = None,
        batch_size: int = 64,
    ) -> Any:
        """Return the best translation of each text, or of one text; see `best`."""
        best = self.best(
            texts,
            contexts=contexts,
            prefixes=prefixes,
            terms=terms,
            forbidden=forbidden,
            glossary=glossary,
            batch_size=batch_size,
        )
        return [translation for translation, _ in best]

    @one_or_many
    def best(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        prefixes: str | Sequence[str] | None = None,
        terms: TermLists | None = None,
        forbidden: Sequence[Any] | None = None,
        glossary: Glossary | Mapping[str, Any] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> Any:
        """Return the best translation of each text, with its score.

        Args:
            texts: Sentences to translate, or one sentence.
            contexts: Context of each text, if the model reads contexts.
            prefixes: Words with which each translation must begin, or an empty string for any
                words. None for no prefixes.
            terms: Terms that each translation must contain as whole words: for each text, a list
                of terms, where a term is a text or a list of alternatives, of which one must
                occur. If the terms of a text do not fit into `max_length`, it is translated without
                them. A warning names the terms that translations lack.
            forbidden: Texts that must not occur in each translation as whole words, a list for each
                text.
            glossary: A `kerasnmt.text.Glossary`, or a dict from source terms to target terms, which
                adds terms for the source terms of each text.
            batch_size: Number of texts in a batch.
            first_number: Number of the first text in warnings.

        Returns:
            A list of pairs (translation, score), one for each text, or one pair for one sentence.
            The score is the log-probability divided by the length penalty.

        Raises:
            ValueError: If an argument does not match the texts or the model.
        """
        request = self._texts("texts", texts, contexts)
        lines = term_lines(len(request["text"]), terms, forbidden)
        if prefixes is not None:
            request["prefix"] = as_texts("prefixes", prefixes)
            check_same_length("prefixes", request["prefix"], "texts", len(request["text"]))
        if any(lines) or glossary is not None:
            return self.with_terms(
                request, lines, glossary, batch_size=batch_size, first_number=first_number
            )
        return self.ask(request, batch_size=batch_size, first_number=first_number)

    def with_terms(
        self,
        request: Mapping[str, Sequence[str]],
        lines: Sequence[str],
        glossary: Glossary | Mapping[str, Any] | None = None,
        *,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> list[tuple[str, float]]:
        """Return the answers of `ask` that have the terms of lines, and warn of missing terms.

        Args:
            request: See `ask`.
            lines: Line of terms of each text; see `kerasnmt.text.term_lines`.
            glossary: See `best`. If the model splits texts into sentences, it applies to each
                sentence.
            batch_size: Number of rows in a batch.
            first_number: Number of the first text in warnings.

        Raises:
            ValueError: If the model cannot search for terms, or splits a text that has a prefix or
                a term which must occur into several parts; or if the terms of a text are too many,
                or one cannot occur without a forbidden text.
        """

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[tuple[str, float, list[str]]]:
            written = ([*map(decode, row)] for row in outputs["written"])
            scores = outputs["score"].tolist()
            return zip(map(decode, outputs["translation"]), scores, written, strict=True)

        if glossary is not None and not isinstance(glossary, Glossary):
            glossary = Glossary(glossary)
        texts = request["text"]
        wanted = [any(term.wanted for term in parse_terms(line)) for line in lines]
        bound = [*map(any, zip(wanted, request.get("prefix", wanted), strict=True))]
        parts = self._parts(texts, bound, first_number)
        sentences = [
            Sentence(index, joined_lines(line, glossary.line(part) if glossary else ""))
            for index, (line, row) in enumerate(zip(lines, parts, strict=True))
            for part in row
        ]
        check_terms(sentences, self.description, first_number)
        name = "forced_prefix_with_terms" if "prefix" in request else "with_terms"
        self._check_request(name, request)  # before the first text that has a term
        terms = [one.line for one in sentences]
        if not any(terms):
            return self.ask(request, batch_size=batch_size, first_number=first_number)
        answers = self._of_parts(name, request, parts, rows, batch_size, first_number, terms=terms)
        flat = (answer for row in answers for answer in row)
        warn_of_unmet(
            [(one, text, written) for one, (text, _, written) in zip(sentences, flat, strict=True)],
            first_number,
        )
        found = [*map(_joined, answers)]
        if "prefix" in request:
            _warn_of_cut_prefixes(request["prefix"], found, first_number)
        return found

    def stream(
        self, text: str, *, context: str | None = None, prefix: str | None = None
    ) -> Iterator[str]:
        """Translate one text, and return an iterator of pieces of the translation as they are made.

        The pieces together are the translation. See `TranslationModel.stream`.

        Args:
            text: Sentence to translate.
            context: Context of the text, if the model reads contexts.
            prefix: Words with which the translation must begin, or None for any words.

        Returns:
            An iterator of pieces, which are not empty. A model on a server, or in an export that
            only has whole searches, gives the whole translation as one piece.

        Raises:
            ValueError: If an argument does not match the model, or the search draws several
                samples.
        """
        progress = self.progress(text, context=context, prefix=prefix)
        return (one.piece for one in progress if one.piece)

    def progress(
        self,
        text: str,
        *,
        context: str | None = None,
        prefix: str | None = None,
        first_number: int = 1,
    ) -> Iterator[Progress]:
        """Translate one text, and return an iterator of the progress of each step.

        See `stream` and `best` for the arguments.

        Returns:
            An iterator of `kerasnmt.tasks.Progress`, with the new piece, the words that follow it
            in the best translation so far, and, in the last one, the score.
        """
        if not isinstance(text, str):
            raise ValueError(
                f"Expected one text, a string. Received: {text!r:.60}, of type "
                f"{type(text).__name__}. Call translate for a list of texts."
            )
        columns = self._texts("text", [text], None if context is None else [context])
        if prefix:
            columns["prefix"] = as_texts("prefix", [prefix])
            self._parts([text], [True], first_number)
        self._check_request("forced_prefix" if prefix else "serving_default", columns)
        self._warn_of_texts(columns, first_number)
        progress = self._model.progress({field: values[0] for field, values in columns.items()})
        warns = self._low_score is not None and not prefix
        return self._warned(progress, text, first_number) if warns else progress

    def _warned(
        self, progress: Iterator[Progress], text: str, first_number: int
    ) -> Iterator[Progress]:
        """Yield the progress, and warn of a low score at its end."""
        for one in progress:
            yield one
            if one.score is not None and self._low_score is not None:
                self._warn_of_low_scores([text], [("", one.score)], self._low_score, first_number)

    @one_or_many
    def n_best(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> Any:
        """Return all translations of each text in the beam, with their scores, best first.

        See `best` for the arguments.

        Returns:
            A list of pairs (translation, score) for each text, or one list for one sentence.

        Raises:
            ValueError: If the model gives only one translation of a text, for example a LiteRT
                model, or an argument does not match the texts or the model.
        """

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[list[tuple[str, float]]]:
            for translations, scores in zip(
                outputs["translations"], outputs["scores"].tolist(), strict=True
            ):
                ranked = zip(map(decode, translations), scores, strict=True)
                yield [(text, score) for text, score in ranked if score > ABSENT_SCORE]

        request = self._whole_texts(texts, contexts, first_number)
        return self._run("n_best", request, rows, batch_size, first_number)

    @one_or_many
    def best_as_a_whole(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> Any:
        """Return the translations whose weights `attention` returns: not split into sentences.

        See `best`, which gives the same for a model that neither splits texts nor has a lexicon. A
        server does not say whether its model does.
        """
        others = Parts.of(self.description) or self.description.get("lexicon", True)
        ask: Callable = self.n_best if others else self.best
        answers = ask(texts, contexts=contexts, batch_size=batch_size, first_number=first_number)
        return [ranked[0] for ranked in answers] if ask == self.n_best else answers

    @one_or_many
    def attention(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> Any:
        """Return the tokens of each text and its best translation, and their attention weights.

        See `best` for the arguments.

        Returns:
            The attention of each text. For a pointer-generator, it includes the probability that
            each token was generated, not copied.

        Raises:
            ValueError: If the model has no attention, or an argument does not match the texts or
                the model.
        """
        request = self._whole_texts(texts, contexts, first_number)
        return self._run("attention", request, self._attended, batch_size, first_number)

    @one_or_many
    def confidence(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> Any:
        """Return the best translation of each text, and how sure the model is of its words.

        See `best` for the arguments.

        Returns:
            The confidence in the translation of each text. If the model splits texts into
            sentences, they are joined again; see `Confidence.joined`.

        Raises:
            ValueError: If the model gives no probabilities of tokens, for example a LiteRT model,
                or an argument does not match the texts or the model.
        """
        request = self._texts("texts", texts, contexts)
        parts = self._parts(request["text"], [False] * len(request["text"]))
        answers = self._of_parts(
            "confidence", request, parts, self._confident, batch_size, first_number
        )
        return [*map(Confidence.joined, answers)]

    @one_or_many
    def n_best_confidence(
        self,
        texts: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> Any:
        """Return all translations of each text in the beam, and how sure the model is of each.

        See `n_best`, whose texts and scores are the same, and `confidence`.

        Returns:
            A list of `Confidence` for each text, best first, or one list for one sentence.

        Raises:
            ValueError: If the model is an export that is not for ONNX Runtime or is on a server, or
                an argument does not match the texts or the model.
        """

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[list[Confidence]]:
            for row in range(len(outputs["score"])):
                found = self._confident({name: one[row] for name, one in outputs.items()})
                # Different tokens can give the same text. Only the best of them stays.
                different: dict[str, Confidence] = {}
                for one in found:
                    if one.score > ABSENT_SCORE / 2:
                        different.setdefault(one.text, one)
                yield [*different.values()]

        request = self._whole_texts(texts, contexts, first_number)
        return self._run("n_best_confidence", request, rows, batch_size, first_number)

    @one_or_many
    def score(
        self,
        sources: str | Sequence[str],
        targets: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        normalize: bool = False,
        batch_size: int = 64,
    ) -> Any:
        """Return the log-probability of each given translation, including the end token.

        Args:
            sources: Source sentences.
            targets: Translation of each source.
            contexts: Context of each source, if the model reads contexts.
            normalize: Whether to divide by the number of target tokens, including the end token.
            batch_size: Number of pairs in a batch.

        Returns:
            Natural logarithms, in order.

        Raises:
            ValueError: If the numbers of sources, targets and contexts differ, or the model is on
                a server or in an export that is not for ONNX Runtime.
        """
        request = self._pairs(sources, targets, contexts)

        def scores(outputs: dict[str, np.ndarray]) -> list[float]:
            score = outputs["score"]
            return (score / outputs["length"] if normalize else score).tolist()

        return self._run("score", request, scores, batch_size)

    @one_or_many
    def forced_attention(
        self,
        sources: str | Sequence[str],
        targets: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> Any:
        """Return the tokens of each pair and the attention weights between them.

        For a model that copies, words outside the vocabulary have the extended ids of the source.

        Args:
            sources: Source sentences.
            targets: Translation of each source.
            contexts: Context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            The attention of each pair, in order.

        Raises:
            ValueError: If the model has no attention, or for the reasons in `score`.
        """
        request = self._pairs(sources, targets, contexts)
        return self._run("forced_attention", request, self._attended, batch_size)

    @one_or_many
    def align(
        self,
        sources: str | Sequence[str],
        targets: str | Sequence[str],
        *,
        contexts: str | Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> Any:
        """Return the links between the words of each pair; see `TranslationModel.align`."""
        attended = self.forced_attention(sources, targets, contexts=contexts, batch_size=batch_size)
        kinds = self.description["source_kind"], self.description["target_kind"]
        return [sentence.alignment(*kinds) for sentence in attended]

    def caption(self, images: Sequence[Any], *, batch_size: int = 64) -> list[str]:
        """Return a caption for each image.

        Args:
            images: Contents of PNG or JPEG files as bytes, or uint8 arrays
                `[height, width, channels]`.
            batch_size: Number of images in a batch.

        Returns:
            The captions, in order. A file that cannot be read has an empty caption.

        Raises:
            ValueError: If an image has another type, or the model does not caption images.
        """
        request = {"image": [image_file(image) for image in as_list("images", images, "images")]}
        return [caption for caption, _ in self.ask(request, batch_size=batch_size)]

    def answer(
        self, stories: Sequence[Sequence[str]], questions: Sequence[str], *, batch_size: int = 64
    ) -> list[str]:
        """Return the answer to each question about a story.

        Args:
            stories: Story of each question, a list of sentences, oldest first.
            questions: Questions to answer.
            batch_size: Number of questions in a batch.

        Returns:
            The answers, in order. A question without words has an empty answer.

        Raises:
            ValueError: If the numbers of stories and questions differ, a story is one string, or
                the model does not answer questions.
        """
        check_same_index(stories=stories, questions=questions)
        questions = as_texts("questions", questions)
        stories = [
            as_texts(f"the story of question {number}", story)
            for number, story in enumerate(as_list("stories", stories, "stories"), start=1)
        ]
        check_same_length("stories", stories, "questions", len(questions))
        # A sentence becomes one line, even if it contains line breaks.
        lines = ["\n".join(" ".join(one.split()) for one in story) for story in stories]
        request = {"story": lines, "question": questions}
        return [answer for answer, _ in self.ask(request, batch_size=batch_size)]

    def _attended(self, outputs: dict[str, np.ndarray]) -> list[SentenceAttention]:
        kinds = self.description.get("source_kind"), self.description.get("target_kind")
        return SentenceAttention.of_batch(outputs, kinds)

    def _confident(self, outputs: dict[str, np.ndarray]) -> list[Confidence]:
        return Confidence.of_batch(outputs, self.description.get("target_kind"))

    def _texts(
        self, name: str, texts: Sequence[str], contexts: Sequence[str] | None
    ) -> dict[str, list[str]]:
        """Return the fields of requests to translate."""
        request = {"text": as_texts(name, texts)}
        reads = "context" in self.fields
        if reads and contexts is None:
            raise ValueError(
                "Expected a context for each text, because this model reads contexts. Received: "
                "contexts=None. Pass an empty context for a text without one."
            )
        if contexts is None:
            return request
        if not reads:
            raise ValueError(
                "Expected contexts=None, because this model reads only texts. Received: contexts."
            )
        request["context"] = as_texts("contexts", contexts)
        check_same_length("contexts", request["context"], name, len(request["text"]))
        return request

    def _whole_texts(
        self, texts: Sequence[str], contexts: Sequence[str] | None, first_number: int
    ) -> dict[str, list[str]]:
        """Return the fields of requests to read texts as a whole.

        For a model of words, they are words without the signs around them. Warns of a text of
        several sentences, which the model otherwise translates one by one.

        Raises:
            ValueError: If a text has several words, which such a model does not read at once.
        """
        request = self._texts("texts", texts, contexts)
        split, texts = Parts.of(self.description), request["text"]
        if split and split.words:
            bound = [True] * len(texts)
            parts = checked_parts(texts, bound, split, first_number, "that is read as a whole")
            request["text"] = [word for (word,) in parts]
        elif split:
            several = [n for n, one in enumerate(texts, first_number) if len(split.split(one)) > 1]
            if several:
                named = _named(several, "has", "have")
                warnings.warn(f"{named} several sentences, which are read as one", stacklevel=5)
        return request

    def _pairs(
        self, sources: Sequence[str], targets: Sequence[str], contexts: Sequence[str] | None
    ) -> dict[str, list[str]]:
        """Return the fields of requests about given translations."""
        request = self._texts("sources", sources, contexts)
        request["target"] = as_texts("targets", targets)
        check_same_length("targets", request["target"], "sources", len(request["text"]))
        warn_of_languages(request["text"], self.description)
        return request

    def _check_request(self, name: str, fields: Iterable[str]) -> None:
        """Check that the model reads these fields, and has a function of this name."""
        if {*fields} - {"prefix", "target", "terms"} != {*self.fields}:
            raise ValueError(
                f"Expected a request with {' and '.join(self.fields)}, which this model reads. "
                f"Received: {' and '.join(fields)}."
            )
        if name not in self._model.signatures:
            raise ValueError(_MISSING[name])

    def _parts(
        self, texts: Sequence[str], bound: Sequence[Any], first_number: int | None = None
    ) -> list[list[str]]:
        """Return the parts of each text, or only the text if the model does not split texts.

        See `checked_parts`.
        """
        return checked_parts(texts, bound, Parts.of(self.description), first_number or 1)

    def _of_parts(
        self,
        name: str,
        request: Mapping[str, Sequence[Any]],
        parts: list[list[str]],
        rows: Callable[[dict[str, np.ndarray]], Iterable],
        batch_size: int,
        first_number: int | None,
        **columns: Sequence[Any],
    ) -> list[list]:
        """Run a function on all parts of the texts; see `_run`.

        Args:
            name: Name of the function.
            request: Columns with a value for each text.
            parts: Parts of each text.
            rows: Function that returns the answers of a batch from its outputs.
            batch_size: Number of parts in a batch.
            first_number: Number of the first text in warnings, or None for no warnings.
            **columns: Columns with a value for each part.

        Returns:
            The answers to the parts of each text.
        """
        self._warn_of_texts(request, first_number)
        owners = [row for row, some in enumerate(parts) for _ in some]
        every: dict[str, Any] = {
            field: [column[row] for row in owners] for field, column in request.items()
        }
        every |= {"text": [one for some in parts for one in some], **columns}
        answers: list[list] = [[] for _ in parts]
        for row, answer in zip(owners, self._run(name, every, rows, batch_size), strict=True):
            answers[row].append(answer)
        return answers

    def _function(self, name: str) -> Callable:
        """Return the function of a signature, and cache it."""
        if name not in self._functions:
            self._functions[name] = self._model.function(name)
        return self._functions[name]

    def _run(
        self,
        name: str,
        columns: Mapping[str, Sequence[Any]],
        rows: Callable[[dict[str, np.ndarray]], Iterable],
        batch_size: int,
        first_number: int | None = None,
    ) -> list:
        """Run a function on all rows.

        Args:
            name: Name of the function.
            columns: Columns of the request.
            rows: Function that returns the answers of a batch from its outputs.
            batch_size: Number of rows in a batch.
            first_number: Number of the first text in warnings about truncated texts, or None for no
                warnings.

        Returns:
            The answer of each row, in order.
        """
        check_size("batch_size", batch_size)
        self._check_request(name, columns)
        lengths = [sum(map(len, row)) for row in zip(*columns.values(), strict=True)]
        if not lengths:
            return []
        function = self._function(name)
        self._warn_of_texts(columns, first_number)

        def outputs(indices: list[int]) -> dict[str, np.ndarray]:
            inputs = {field: [values[i] for i in indices] for field, values in columns.items()}
            return {key: np.asarray(value) for key, value in function(**inputs).items()}

        answers: list = [None] * len(lengths)
        batches = [*like_lengths(lengths, batch_size)]
        in_order = _in_threads(self._model.threads, outputs, batches)
        for indices, answered in zip(batches, in_order, strict=True):
            for index, answer in zip(indices, rows(answered), strict=True):
                answers[index] = answer
        return answers

    def truncated(self, texts: Sequence[str | bytes]) -> list[tuple[int, int]]:
        """Return the texts that are longer than the search allows.

        Args:
            texts: Sentences to translate.

        Returns:
            A list of pairs (index of the text, its number of tokens). It is empty if the model does
            not count tokens.
        """
        if self._model.source_lengths is None:
            return []
        limit = self.description["max_length"]
        suspects = [i for i, text in enumerate(texts) if _most_tokens(as_string(text)) > limit]
        if not suspects:
            return []
        lengths = np.asarray(self._model.source_lengths([texts[i] for i in suspects])).tolist()
        pairs = zip(suspects, lengths, strict=True)
        return [(index, length) for index, length in pairs if length > limit]

    def _warn_of_texts(
        self, columns: Mapping[str, Sequence[Any]], first_number: int | None
    ) -> None:
        """Warn of texts without the tag of a language, if they are the first, and of long texts."""
        if first_number == 1 and "text" in columns:
            texts = columns["text"]
            warn_of_languages([*map(as_string, texts)], self.description)
        if first_number is not None and (truncated := self.truncated(columns[self.fields[0]])):
            most = max(length for _, length in truncated)
            numbers = [first_number + index for index, _ in truncated]
            named = _named(
                numbers, f"has {most} tokens and was", f"have up to {most} tokens and were"
            )
            warnings.warn(
                f"{named} truncated to {self.description['max_length']}, the max_length of this "
                "search",
                stacklevel=5,
            )

    def _warn_of_low_scores(
        self,
        texts: Sequence[str | bytes],
        answers: list[tuple[str, float]],
        low_score: float,
        first_number: int,
    ) -> None:
        sentences = np.ones(len(texts))
        if split := Parts.of(self.description):  # the score of a text is their sum
            sentences = np.array([len(split.split(as_string(text))) for text in texts])
        scores = np.array([score for _, score in answers])
        (low,) = np.nonzero(scores < low_score * sentences)
        if low.size:
            named = _named([*(low + first_number)], "scores", "score")
            warnings.warn(
                f"{named} lower than nearly all texts of the model's test data; such translations "
                "may be wrong",
                stacklevel=5,
            )


def image_file(image: Any) -> bytes:
    """Return an image file as bytes, and encode an array as a file."""
    if isinstance(image, bytes):
        return image
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in (1, 3, 4):
        raise ValueError(
            "Expected each image as the bytes of a PNG or JPEG file, or as a uint8 array "
            f"[height, width, channels]. Received: {type(image).__name__} of dtype {array.dtype} "
            f"and shape {array.shape}."
        )
    return png_of(array)


def _warn_of_cut_prefixes(
    prefixes: Sequence[str | bytes], answers: list[tuple[str, float]], first_number: int
) -> None:
    """Warn of translations that end before their prefix does."""
    cut, pairs = [], zip(prefixes, answers, strict=True)
    for number, (prefix, (text, _)) in enumerate(pairs, first_number):
        begun, wanted = ("".join(as_string(one).split()) for one in (text, prefix))
        if begun and begun != wanted and wanted.startswith(begun):
            cut.append(number)
    if cut:
        named = _named(cut, "has a prefix", "have prefixes")
        warnings.warn(f"{named} of more tokens than the max_length of this search", stacklevel=5)


def _named(numbers: Sequence[int], has: str, have: str) -> str:
    """Return the beginning of a warning about texts, with the verb for one or for several."""
    several = len(numbers) > 1
    return f"text{'s' * several} {first_few(numbers)} {have if several else has}"


def _answers(outputs: dict[str, np.ndarray]) -> Iterator[tuple[str, float]]:
    """Return the text and the score of each answer of a batch."""
    (name,) = outputs.keys() - {"score"}
    return zip(map(decode, outputs[name]), outputs["score"].tolist(), strict=True)


def _joined(answers: Sequence[Sequence[Any]]) -> tuple[str, float]:
    """Return the translation of a text, and the sum of the scores, from those of its parts."""
    return join_texts([text for text, *_ in answers]), sum(score for _, score, *_ in answers)


# Errors for functions that a model does not have.
_MISSING = {
    "n_best": "Expected a model, or a SavedModel, for several translations of a text. Received: "
    "one without the signature 'n_best'.",
    "confidence": "Expected a model that gives probabilities of tokens. Received: an export "
    "without the signature 'confidence'. Use the run or the preset, or export for ONNX Runtime.",
    "n_best_confidence": "Expected a run, a preset or an export for ONNX Runtime, to look at the "
    "words of several translations. Received: another export, or a server.",
    "attention": "Expected a model with attention. Received: one without the signature "
    "'attention'.",
    "forced_prefix": "Expected a model for prefixes. Received: an export or a server, whose "
    "signatures take only texts.",
    "with_terms": "Expected a model for terms. Received: an export without the signature "
    "'with_terms', for another runtime or from an earlier version. Export for TensorFlow or ONNX "
    "Runtime.",
    "forced_prefix_with_terms": "Expected a model for prefixes and terms. Received: an export or a "
    "server, whose signatures take only texts.",
    "score": "Expected a model to score given translations. Received: an export or a server, whose "
    "signatures take only texts.",
    "forced_attention": "Expected a model with attention to align given translations. Received: "
    "one without attention, an export or a server.",
}


def like_lengths(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of texts in batches, shortest texts first.

    Texts of similar length need little padding, and their rows finish at about the same time.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def _in_threads(threads: int, function: Callable, values: Sequence) -> Iterator:
    """Yield the results of a function, in order. After an error, no further call begins."""
    if min(threads, len(values)) <= 1:
        yield from map(function, values)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(function, values)
    finally:
        pool.shutdown(cancel_futures=True)


def _most_tokens(text: str) -> int:
    """Return an upper bound of the number of tokens in a text, including the end token.

    Each token stands for at least one byte of the text, or of its longest normalization.
    SentencePiece may read a shorter form. Only the space that it adds in front is not there.
    """
    forms = text, unicodedata.normalize("NFKD", text)
    return max(len(form.encode("utf-8", "replace")) for form in forms) + 2

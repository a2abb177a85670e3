"""Ask one model, export or server about many texts, images or stories."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kerasnmt.columns import as_list, as_texts, check_same_length
from kerasnmt.tasks.sentence_attention import SentenceAttention, decode
from kerasnmt.tasks.served_model import ABSENT_SCORE, ServedModel


class Translator:
    """Ask a model about lists of texts, images or stories, in batches of similar length.

    Results are in the order of the rows. A text that is longer than the search allows is cut, with
    a warning if the model counts tokens. Texts may be in a list, a tuple, an array, a pandas
    Series, a generator or a tensor.

    Args:
        served: What answers: a task of `kerasnmt.tasks`, such as `TranslationTask(model)`; the
            result of `load_export` or `load_lite`; a `RestClient` or a `GrpcClient`.

    Attributes:
        description: Facts about the model, such as `beam_size`; see `ServedModel`.
        fields: The names of the fields that it reads.
    """

    def __init__(self, served: ServedModel) -> None:
        self._served = served
        self._functions: dict[str, Callable] = {}
        self.description = served.description
        self.fields = served.fields

    def ask(
        self,
        request: Mapping[str, Sequence[str | bytes]],
        *,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> list[tuple[str, float]]:
        """Return the best answer to each row of a request with its score.

        Args:
            request: A column for each field that the model reads: `text`, with `context` where it
                reads one; `image`, the bytes of PNG or JPEG files; or `story`, one sentence per
                line, and `question`.
            batch_size: Number of rows in a batch.
            first_number: The number of the first row in warnings.

        Returns:
            A pair (translation, caption or answer; its score) for each row.

        Raises:
            ValueError: If the fields are not those of the model, a column is one string, or the
                columns differ in length.
        """
        given = {field: as_list(field, column, "rows") for field, column in request.items()}
        first, *others = [*given] or ["text"]
        for field in others:
            check_same_length(f"rows of {field}", given[field], f"of {first}", len(given[first]))
        return self._run("serving_default", given, _answers, batch_size, first_number)

    def translate(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        prefixes: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[str]:
        """Return the best translation of each text; see `best`."""
        found = self.best(texts, contexts=contexts, prefixes=prefixes, batch_size=batch_size)
        return [translation for translation, _ in found]

    def best(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        prefixes: Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> list[tuple[str, float]]:
        """Return the best translation of each text with its score.

        Args:
            texts: The sentences.
            contexts: The context of each text, if the model reads contexts.
            prefixes: The words that each translation begins with, or an empty text for any
                beginning; None for no prefixes.
            batch_size: Number of texts in a batch.
            first_number: The number of the first text in warnings.

        Returns:
            A pair (translation, log-probability divided by the length penalty) for each text.

        Raises:
            ValueError: If an argument does not suit the texts or the model.
        """
        given = self._texts("texts", texts, contexts)
        if prefixes is None:
            return self.ask(given, batch_size=batch_size, first_number=first_number)
        given["prefix"] = as_texts("prefixes", prefixes)
        check_same_length("prefixes", given["prefix"], "texts", len(given["text"]))
        return self._run("forced_prefix", given, _answers, batch_size, first_number)

    def n_best(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> list[list[tuple[str, float]]]:
        """Return all translations of each text in the beam with their scores, best first.

        The arguments are those of `best`.

        Returns:
            A list of pairs (translation, score) for each text.

        Raises:
            ValueError: If there is only one translation per text, as in an export for LiteRT, or an
                argument does not suit the texts or the model.
        """

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[list[tuple[str, float]]]:
            for translations, scores in zip(
                outputs["translations"], outputs["scores"].tolist(), strict=True
            ):
                ranked = zip(map(decode, translations), scores, strict=True)
                yield [(text, score) for text, score in ranked if score > ABSENT_SCORE]

        given = self._texts("texts", texts, contexts)
        return self._run("n_best", given, rows, batch_size, first_number)

    def attention(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> list[SentenceAttention]:
        """Return the tokens of each text and its best translation, and their attention weights.

        The arguments are those of `best`.

        Returns:
            The attention of each text. For a pointer-generator it includes the probability that
            each token was generated, not copied.

        Raises:
            ValueError: If the model has no attention, or an argument does not suit the texts or the
                model.
        """
        given = self._texts("texts", texts, contexts)
        return self._run("attention", given, SentenceAttention.of_batch, batch_size, first_number)

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[float]:
        """Return the log-probability of each given translation, the end token included.

        Args:
            sources: The source sentences.
            targets: The translation of each source.
            contexts: The context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            Natural logarithms, in order.

        Raises:
            ValueError: If the numbers of sources, targets and contexts differ, or the model is an
                export or behind a server.
        """
        given = self._pairs(sources, targets, contexts)
        return self._run("score", given, lambda outputs: outputs["score"].tolist(), batch_size)

    def forced_attention(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[SentenceAttention]:
        """Return the tokens of each pair and the attention weights between them.

        For a model that copies, words outside the vocabulary have the extended ids of the source.

        Args:
            sources: The source sentences.
            targets: The translation of each source.
            contexts: The context of each source, if the model reads contexts.
            batch_size: Number of pairs in a batch.

        Returns:
            The attention of each pair, in order.

        Raises:
            ValueError: As in `score`; also if the model has no attention.
        """
        given = self._pairs(sources, targets, contexts)
        return self._run("forced_attention", given, SentenceAttention.of_batch, batch_size)

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
    ) -> list[list[tuple[int, int]]]:
        """Return the links between the words of each pair, (source word, target word) from 0.

        The arguments are those of `score`; see `kerasnmt.models.TranslationModel.align`.
        """
        attended = self.forced_attention(sources, targets, contexts=contexts, batch_size=batch_size)
        kinds = self.description["source_kind"], self.description["target_kind"]
        return [sentence.alignment(*kinds) for sentence in attended]

    def caption(self, images: Sequence[Any], *, batch_size: int = 64) -> list[str]:
        """Return a caption for each image.

        Args:
            images: The bytes of PNG or JPEG files, or arrays uint8 `[height, width, channels]`.
            batch_size: Number of images in a batch.

        Returns:
            The captions, in order; empty for a file that cannot be read.

        Raises:
            ValueError: If an image has another form, or the model does not caption images.
        """
        given = {"image": [image_file(image) for image in as_list("images", images, "images")]}
        return [caption for caption, _ in self.ask(given, batch_size=batch_size)]

    def answer(
        self, stories: Sequence[Sequence[str]], questions: Sequence[str], *, batch_size: int = 64
    ) -> list[str]:
        """Return the answer to each question about a story.

        Args:
            stories: For each question its story, a list of sentences, oldest first.
            questions: The questions.
            batch_size: Number of questions in a batch.

        Returns:
            The answers, in order; empty for a question without words.

        Raises:
            ValueError: If the numbers of stories and questions differ, a story is one string, or
                the model does not answer questions.
        """
        questions = as_texts("questions", questions)
        stories = [
            as_texts(f"the story of question {number}", story)
            for number, story in enumerate(as_list("stories", stories, "stories"), start=1)
        ]
        check_same_length("stories", stories, "questions", len(questions))
        # A sentence becomes one line, even if it contains line breaks.
        lines = ["\n".join(" ".join(one.split()) for one in story) for story in stories]
        given = {"story": lines, "question": questions}
        return [answer for answer, _ in self.ask(given, batch_size=batch_size)]

    def _texts(
        self, name: str, texts: Sequence[str], contexts: Sequence[str] | None
    ) -> dict[str, list[str]]:
        """Return the fields of requests to translate."""
        given = {"text": as_texts(name, texts)}
        reads = "context" in self.fields
        if reads and contexts is None:
            raise ValueError(
                "Expected contexts, one for each text, as this model reads both. Received: "
                "contexts=None. Pass empty contexts where there are none."
            )
        if contexts is None:
            return given
        if not reads:
            raise ValueError(
                "Expected contexts=None, as this model reads only texts. Received: contexts."
            )
        given["context"] = as_texts("contexts", contexts)
        check_same_length("contexts", given["context"], name, len(given["text"]))
        return given

    def _pairs(
        self, sources: Sequence[str], targets: Sequence[str], contexts: Sequence[str] | None
    ) -> dict[str, list[str]]:
        """Return the fields of requests about given translations."""
        given = self._texts("sources", sources, contexts)
        given["target"] = as_texts("targets", targets)
        check_same_length("targets", given["target"], "sources", len(given["text"]))
        return given

    def _function(self, name: str, fields: Iterable[str]) -> Callable:
        """Return the function of a signature, which is looked up once."""
        if {*fields} - {"prefix", "target"} != {*self.fields}:
            raise ValueError(
                f"Expected a request with {' and '.join(self.fields)}, which this model reads. "
                f"Received: {' and '.join(fields)}."
            )
        if name not in self._served.signatures:
            raise ValueError(_MISSING[name])
        if name not in self._functions:
            self._functions[name] = self._served.function(name)
        return self._functions[name]

    def _run(
        self,
        name: str,
        given: Mapping[str, Sequence[Any]],
        rows: Callable[[dict[str, np.ndarray]], Iterable],
        batch_size: int,
        first_number: int | None = None,
    ) -> list:
        """Run a function on all rows.

        Args:
            name: Name of the function.
            given: The columns of the request.
            rows: A function that returns the answers of a batch from its outputs.
            batch_size: Number of rows in a batch.
            first_number: Number of the first text in warnings about texts that are cut; None for
                no warnings.

        Returns:
            The answer of each row, in order.
        """
        if batch_size < 1:
            raise ValueError(f"Expected batch_size >= 1. Received: batch_size={batch_size}")
        function = self._function(name, given)
        lengths = [sum(map(len, row)) for row in zip(*given.values(), strict=True)]
        if not lengths:
            return []
        if first_number is not None and "text" in given:
            self._warn_of_cuts(given["text"], first_number)
        answers: list = [None] * len(lengths)
        for places in like_lengths(lengths, batch_size):
            inputs = {field: [values[i] for i in places] for field, values in given.items()}
            outputs = {key: np.asarray(value) for key, value in function(**inputs).items()}
            for place, answer in zip(places, rows(outputs), strict=True):
                answers[place] = answer
        return answers

    def _warn_of_cuts(self, texts: Sequence[str], first_number: int) -> None:
        if self._served.source_lengths is None:
            return
        limit = self.description["max_length"]
        suspects = [i for i, text in enumerate(texts) if _most_tokens(text) > limit]
        if not suspects:
            return
        lengths = np.asarray(self._served.source_lengths([texts[i] for i in suspects]))
        for place, length in zip(suspects, lengths, strict=True):
            if length > limit:
                warnings.warn(
                    f"text {first_number + place} has {length} tokens and was cut to {limit}, the "
                    "max_length of this search",
                    stacklevel=5,
                )


def image_file(image: Any) -> bytes:
    """Return the bytes of an image file, or encode an array as one."""
    if isinstance(image, bytes):
        return image
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in (1, 3, 4):
        raise ValueError(
            "Expected each image as the bytes of a PNG or JPEG file, or as an array uint8 "
            f"[height, width, channels]. Received: {type(image).__name__} of dtype {array.dtype} "
            f"and shape {array.shape}."
        )
    import tensorflow as tf

    return tf.io.encode_png(array).numpy()


def _answers(outputs: dict[str, np.ndarray]) -> Iterator[tuple[str, float]]:
    """Return the texts and scores of a batch: each answer has one text and one score."""
    (name,) = outputs.keys() - {"score"}
    return zip(map(decode, outputs[name]), outputs["score"].tolist(), strict=True)


# What to do where a model lacks a function.
_MISSING = {
    "n_best": "Expected a model, or a SavedModel, for several translations of a text. Received: "
    "one without the signature 'n_best'.",
    "attention": "Expected a model with attention. Received: one without the signature "
    "'attention'.",
    "forced_prefix": "Expected a model, to force prefixes. Received: an export, whose signatures "
    "take only texts.",
    "score": "Expected a model, to score given translations. Received: an export, whose signatures "
    "take only texts.",
    "forced_attention": "Expected a model with attention, to align given translations. Received: "
    "one without attention, or an export.",
}


def like_lengths(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of texts in batches, shortest texts first.

    Texts of similar length need little padding, and few steps are wasted on finished rows.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def _most_tokens(text: str) -> int:
    """Return an upper bound of the number of tokens in a text, the end token included.

    Each token stands for at least one byte of the text, or of the normalized text of SentencePiece,
    except the space that it adds at the beginning.
    """
    forms = text, unicodedata.normalize("NFKC", text)
    return max(len(form.encode("utf-8", "replace")) for form in forms) + 2

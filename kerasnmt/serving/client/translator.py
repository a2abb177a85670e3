"""Translate many texts with one model, export or server."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kerasnmt.serving.client.sentence_attention import SentenceAttention
from kerasnmt.serving.contract.export_contract import decode
from kerasnmt.serving.contract.served_model import ServedModel


class Translator:
    """Translate lists of texts, in batches of texts of similar length.

    Results are in the order of the texts. A text that is longer than the search allows is cut, with
    a warning if the model counts tokens.

    Args:
        served: A `TextModule`, the result of `load_export` or `load_lite`, a `RestClient` or a
            `GrpcClient`.
    """

    def __init__(self, served: ServedModel) -> None:
        self._served = served
        self._functions: dict[str, Callable] = {}
        self.description = served.description

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
            prefixes: The words with which the translation of each text has to begin, empty where
                any beginning will do; `None` if there are no such words.
            batch_size: Number of texts in a batch.
            first_number: The number of the first text in warnings.

        Returns:
            A pair (translation, log-probability divided by the length penalty) for each text.

        Raises:
            ValueError: If an argument does not suit the texts or the model.
        """

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[tuple[str, float]]:
            return zip(map(decode, outputs["translation"]), outputs["score"].tolist(), strict=True)

        given = self._texts(texts, contexts)
        if prefixes is None:
            function = self._function("serving_default")
            return self._run(function, given, batch_size, first_number, rows)
        if self._served.forced_prefix is None:
            raise ValueError(
                "Expected a model, to force prefixes. Received: an export, whose signatures take "
                "only texts."
            )
        given["prefix"] = prefixes
        return self._run(self._served.forced_prefix, given, batch_size, first_number, rows)

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
        if "n_best" not in self._served.signatures:
            raise ValueError(
                "Expected a model, or a SavedModel, for several translations of a text. Received: "
                "one without the signature 'n_best'."
            )

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[list[tuple[str, float]]]:
            for translations, scores in zip(
                outputs["translations"], outputs["scores"].tolist(), strict=True
            ):
                ranked = zip(map(decode, translations), scores, strict=True)
                yield [(text, score) for text, score in ranked if score > -1e9]

        given = self._texts(texts, contexts)
        return self._run(self._function("n_best"), given, batch_size, first_number, rows)

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
        if "attention" not in self._served.signatures:
            raise ValueError(
                "Expected a model with attention. Received: one without the signature 'attention'."
            )
        function, rows = self._function("attention"), SentenceAttention.of_batch
        return self._run(function, self._texts(texts, contexts), batch_size, first_number, rows)

    def _function(self, name: str) -> Callable:
        """Return the function of a signature, which is looked up once."""
        if name not in self._functions:
            self._functions[name] = self._served.function(name)
        return self._functions[name]

    def _texts(
        self, texts: Sequence[str], contexts: Sequence[str] | None
    ) -> dict[str, Sequence[str]]:
        """Return the inputs of a signature by name."""
        reads = "context_kind" in self.description
        if reads and contexts is None:
            raise ValueError(
                "Expected contexts, one for each text, as this model reads both. Received: "
                "contexts=None. Pass empty contexts where there are none."
            )
        if contexts is not None and not reads:
            raise ValueError(
                "Expected contexts=None, as this model reads only texts. Received: contexts."
            )
        return {"text": texts} if contexts is None else {"text": texts, "context": contexts}

    def _run(
        self,
        function: Callable[..., Any],
        given: dict[str, Sequence[str]],
        batch_size: int,
        first_number: int,
        rows: Callable[[dict[str, np.ndarray]], Iterable],
    ) -> list:
        texts = given["text"]
        if isinstance(texts, str):
            raise ValueError(f"Expected a list of texts. Received: texts={texts!r}, one string.")
        if batch_size < 1:
            raise ValueError(f"Expected batch_size >= 1. Received: batch_size={batch_size}")
        for name, values in given.items():
            if isinstance(values, str) or len(values) != len(texts):
                raise ValueError(
                    f"Expected a {name} for each text, empty where there is none. "
                    f"Received: {values!r:.50} for {len(texts)} texts."
                )
        if not texts:
            return []
        self._warn_of_cuts(texts, first_number)
        answers: list = [None] * len(texts)
        for places in like_lengths([*map(len, texts)], batch_size):
            inputs = {name: [values[i] for i in places] for name, values in given.items()}
            outputs = function(**inputs)
            outputs = {name: np.asarray(value) for name, value in outputs.items()}
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
                    stacklevel=4,
                )


def like_lengths(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of texts in batches, shortest texts first.

    Texts of similar length need little padding, and few steps are wasted on finished rows.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def _most_tokens(text: str) -> int:
    """Return an upper bound of the number of tokens in a text, the end token included.

    Each token stands for at least one byte of the normalized text, except the space that
    SentencePiece adds at the beginning.
    """
    return len(unicodedata.normalize("NFKC", text).encode("utf-8", "replace")) + 2

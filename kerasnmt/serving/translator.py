"""Many texts through the signatures of one model or export."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kerasnmt.serving.like_lengths import like_lengths
from kerasnmt.serving.sentence_attention import SentenceAttention, decode


class Translator:
    """Translate lists of texts, in batches of texts of like length, in order.

    It holds to what a `TextModule`, a loaded export and a model behind a server have in common, and
    so treats them alike.

    Args:
        served: a `TextModule`, what `load_export` or `load_lite` returns, or a `RestClient` or
            `GrpcClient`: an object with `signatures`, a mapping from names to functions of `text`;
            `source_lengths`, a function of texts, or None where nobody counts tokens: a cut is
            then made without a warning; and `description`, a mapping.
    """

    def __init__(self, served: Any) -> None:
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
            texts: one sentence each.
            contexts: their contexts, for what reads them; None for what does not.
            prefixes: for each text the words that its translation has to begin with, or an empty
                string; None for none.
            batch_size: number of texts translated at once.
            first_number: what the first text is called in warnings.

        Returns:
            (translation, log-probability divided by the length penalty) for each text, in order.
        """

        def rows(outputs: dict[str, np.ndarray]) -> Iterator[tuple[str, float]]:
            return zip(map(decode, outputs["translation"]), outputs["score"].tolist(), strict=True)

        given = self._texts(texts, contexts)
        if prefixes is None:
            function = self._function("serving_default")
            return self._run(function, given, batch_size, first_number, rows)
        forced_prefix = getattr(self._served, "forced_prefix", None)
        if forced_prefix is None:
            raise ValueError(
                "Expected a model, to force prefixes. Received: an export, whose signatures take "
                "texts alone."
            )
        given["prefix"] = prefixes
        return self._run(forced_prefix, given, batch_size, first_number, rows)

    def n_best(
        self,
        texts: Sequence[str],
        *,
        contexts: Sequence[str] | None = None,
        batch_size: int = 64,
        first_number: int = 1,
    ) -> list[list[tuple[str, float]]]:
        """Return the translations of the beam with their scores for each text, best first.

        Args:
            texts: one sentence each.
            contexts: their contexts, for what reads them; None for what does not.
            batch_size: number of texts translated at once.
            first_number: what the first text is called in warnings.

        Raises:
            ValueError: there is only one translation for a text, as of an export for LiteRT.
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
        """Return the tokens of each text and of its best translation, and their weights.

        Of a pointer-generator also the probability that each token was generated, not copied.

        Args:
            texts: one sentence each.
            contexts: their contexts, for what reads them; None for what does not.
            batch_size: number of texts translated at once.
            first_number: what the first text is called in warnings.

        Raises:
            ValueError: the model has no attention.
        """
        if "attention" not in self._served.signatures:
            raise ValueError(
                "Expected a model with attention. Received: one without the signature 'attention'."
            )
        function, rows = self._function("attention"), SentenceAttention.of_batch
        return self._run(function, self._texts(texts, contexts), batch_size, first_number, rows)

    def _function(self, name: str) -> Callable:
        """The function of a signature: of one that TensorFlow traces, the one graph that it has.

        To look that up at every call takes 0.5 ms, of ten that a sentence takes.
        """
        if name not in self._functions:
            self._functions[name] = _one_graph(self._served.signatures[name])
        return self._functions[name]

    def _texts(
        self, texts: Sequence[str], contexts: Sequence[str] | None
    ) -> dict[str, Sequence[str]]:
        """The inputs of a signature."""
        reads = "context_kind" in self.description
        if reads and contexts is None:
            raise ValueError(
                "Expected contexts, one for each text, as this model reads them beside the texts. "
                "Received: contexts=None. Give them, empty ones for none."
            )
        if contexts is not None and not reads:
            raise ValueError(
                "Expected contexts=None, as this model reads texts alone. Received: contexts."
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
                    f"Expected a {name} for each text, an empty one for none. "
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
        if "source_lengths" not in self._functions:
            self._functions["source_lengths"] = _one_graph(self._served.source_lengths)
        count = self._functions["source_lengths"]
        lengths = np.asarray(count([texts[i] for i in suspects]))
        for place, length in zip(suspects, lengths, strict=True):
            if length > limit:
                warnings.warn(
                    f"text {first_number + place} has {length} tokens and was cut to {limit}, the "
                    "max_length of this search",
                    stacklevel=4,
                )


def _one_graph(function: Callable) -> Callable:
    """The one graph of a function that TensorFlow traces for one kind of input, else itself."""
    if getattr(function, "input_signature", None) is None:
        return function
    return function.get_concrete_function()


def _most_tokens(text: str) -> int:
    """A number that the tokens of a text, its end among them, are never more than.

    A token stands for one byte at least of what normalization makes of the text, but for the space
    that SentencePiece puts before it.
    """
    return len(unicodedata.normalize("NFKC", text).encode("utf-8", "replace")) + 2

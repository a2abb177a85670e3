"""Contracts of exports that translate, with or without a context."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from kerasnmt.serving.contract.export_contract import (
    ODD_TEXTS,
    WARMUP_BATCH_SIZES,
    WEIGHT_TOLERANCE,
    ExportContract,
    FurtherCheck,
    Outputs,
    Row,
    weight_problems,
)
from kerasnmt.tasks.served_model import ABSENT_SCORE
from kerasnmt.text.parts import Parts
from kerasnmt.token_confidence import NUMBERS

# An export contains the translations of these texts for its check. They have several lengths, for
# padding; no words; and characters that are in no vocabulary.
EXAMPLE_TEXTS = ("Two dogs run.", "A man in a red shirt is reading a book .", "", "   ", "naïve 🙂")

_WARMUP_WORDS = ["a", "man", "in", "a", "red", "shirt", "is", "reading", "a", "book", "."]
_WARMUP_LENGTHS = (1, 8, 32)  # words

# Lines of terms that rows take in turn. The first is empty, so the first row has no terms.
_TERM_LINES = (
    b"",
    b"!a",
    b"a man|dogs\tthe",
    b"!|\t|\t ! ",
    "naïve 🙂\t!книга|犬".encode(),
    b"\xff\xfe dogs\t\0",
)


class TranslationContract(ExportContract):
    """Contract of exports that translate: the best translations, and the attention."""

    inputs: tuple[str, ...] = ("text",)
    further_inputs: ClassVar = {"with_terms": {"terms": _TERM_LINES}}
    outputs: ClassVar = {
        "serving_default": {
            "translation": ("string", ("batch",)),
            "score": ("float32", ("batch",)),
        },
        "n_best": {
            "translations": ("string", ("batch", "beam")),
            "scores": ("float32", ("batch", "beam")),
        },
        "attention": {
            "source_tokens": ("string", ("batch", "source_length")),
            "target_tokens": ("string", ("batch", "target_length")),
            "weights": ("float32", ("batch", "target_length", "source_length")),
            "generate_probability": ("float32", ("batch", "target_length")),
            "pointer_weights": ("float32", ("batch", "target_length", "source_length")),
        },
        "with_terms": {
            "translation": ("string", ("batch",)),
            "score": ("float32", ("batch",)),
            "written": ("string", ("batch", "alternatives")),
        },
        "confidence": {
            "translation": ("string", ("batch",)),
            "score": ("float32", ("batch",)),
            "target_tokens": ("string", ("batch", "target_length")),
            **dict.fromkeys(NUMBERS, ("float32", ("batch", "target_length"))),
            "calibration": ("float32", ("batch", "parameters")),
        },
    }
    answer = "translation"
    row = "text"
    example_rows = tuple((text,) for text in EXAMPLE_TEXTS)
    odd_values: ClassVar = {"text": ODD_TEXTS}
    # A model without attention does not have `attention`, and one that draws samples does not have
    # `with_terms`. Some runtimes, and exports of earlier versions, have neither this nor
    # `confidence`.
    optional_signatures = frozenset({"attention", "confidence", "with_terms"})
    # Only a pointer-generator has a probability of generating, only a separate pointer has weights
    # of its own, and a model need not be calibrated.
    optional_outputs = frozenset({"generate_probability", "pointer_weights", "calibration"})

    def fitting(self, description: Mapping[str, Any]) -> ExportContract:
        """Return the contract with single words if the export splits texts into words."""
        return _WordContract() if description.get("split_words") else self

    def warmup_batches(self) -> Iterator[dict[str, list[bytes]]]:
        """Yield batches of 1, 8 and 64 texts of 1, 8 and 32 words."""
        for size in WARMUP_BATCH_SIZES:
            for length in _WARMUP_LENGTHS:
                words = [_WARMUP_WORDS[index % len(_WARMUP_WORDS)] for index in range(length)]
                yield {self.inputs[0]: [" ".join(words).encode()] * size}

    def whole_rows(self, rows: tuple[Row, ...], description: Mapping[str, Any]) -> tuple[Row, ...]:
        """Return the rows that `serving_default` does not split, or if there are none, examples."""
        split = Parts.of(description)
        if split is None:
            return rows
        whole = (row for row in rows if split.split(str(row[0])) == [row[0]])
        return (*whole,) or self.fitting(description).example_rows

    def further_checks(self) -> dict[str, FurtherCheck]:
        """Return the checks of `n_best`, `attention`, `with_terms` and `confidence`."""
        return {
            "n_best": self._check_n_best,
            "attention": self._check_attention,
            "with_terms": self._check_with_terms,
            "confidence": self._check_confidence,
        }

    def n_best_problems(
        self, default: Mapping[str, np.ndarray], n_best: Mapping[str, np.ndarray]
    ) -> list[str]:
        """Check that `n_best` is a ranking that starts with the output of `serving_default`.

        Args:
            default: Outputs of `serving_default`: `translation` and `score`, `[batch]` each.
            n_best: Outputs of `n_best` for the same texts: `translations` and `scores`,
                `[batch, beam]` each.

        Returns:
            A list of these problems: scores that are not finite or not in descending order, a first
            translation that differs from the default translation, and missing hypotheses that are
            not an empty text with -1e9.
        """
        translations, scores = n_best["translations"], n_best["scores"]
        if not scores.shape[1]:
            return ["n_best has no hypotheses"]
        absent = scores <= ABSENT_SCORE / 2
        problems = []
        if not (np.isfinite(scores).all() and np.isfinite(default["score"]).all()):
            problems.append("scores are not finite")
        if (scores[:, 1:] > scores[:, :-1]).any():
            problems.append("n_best is not in the order of its scores")
        if (translations[absent] != b"").any() or (
            scores[absent] != np.float32(ABSENT_SCORE)
        ).any():
            problems.append("missing hypotheses of n_best are not an empty text with -1e9")
        if absent[:, :1].any():
            problems.append("n_best has no hypothesis for a text")
        best = {"translation": translations[:, 0], "score": scores[:, 0]}
        problems += [f"best of n_best, {problem}" for problem in self.differences(default, best)]
        return problems

    def attention_problems(self, attention: Mapping[str, np.ndarray]) -> list[str]:
        """Check the padding of tokens, and the attention weights.

        Args:
            attention: Outputs of `attention`; see `kerasnmt.tasks.TranslationTask`.

        Returns:
            A list of these problems: real tokens after padding, the problems of `weight_problems`
            for the attention and a separate pointer, and values of `generate_probability` that are
            outside [0, 1], to 1e-3, or that are not 0 for padding.
        """
        weights = attention["weights"]
        real = {side: attention[f"{side}_tokens"] != b"" for side in ("source", "target")}
        problems = [
            f"{side}_tokens has an empty string before a token"
            for side, mask in real.items()
            if (mask[:, 1:] & ~mask[:, :-1]).any()
        ]
        problems += weight_problems(weights, real["target"], real["source"])
        if "pointer_weights" in attention:
            further = weight_problems(attention["pointer_weights"], real["target"], real["source"])
            problems += [f"pointer: {one}" for one in further]
        if "generate_probability" in attention:
            probability = attention["generate_probability"]
            wrong = probability[~(np.abs(probability - 0.5) <= 0.5 + WEIGHT_TOLERANCE)]
            if wrong.size:
                problems.append(f"generate_probability has {wrong[0]:.4f}, expected 0 to 1")
            if (probability[~real["target"]] != 0).any():
                problems.append("generate_probability of padding is not 0")
        return problems

    def confidence_problems(self, confidence: Mapping[str, np.ndarray]) -> list[str]:
        """Check the ranges of the numbers of tokens, and their padding.

        Args:
            confidence: Outputs of `confidence`; see `kerasnmt.tasks.TranslationTask`.

        Returns:
            A list of these problems: log-probabilities above 0, entropies below 0 and margins
            outside [-1, 1], to 1e-3, and numbers of padding that are not 0.
        """
        limits = {
            "log_probability": (-np.inf, 0.0),
            "entropy": (0.0, np.inf),
            "margin": (-1.0, 1.0),
        }
        padding = confidence["target_tokens"] == b""
        problems = []
        for name, (least, most) in limits.items():
            values = confidence[name]
            wrong = values[(values < least - WEIGHT_TOLERANCE) | (values > most + WEIGHT_TOLERANCE)]
            if wrong.size:
                problems.append(f"{name} has {wrong[0]:.4f}, expected {least:g} to {most:g}")
            if (values[padding] != 0).any():
                problems.append(f"{name} of padding is not 0")
        return problems

    def _check_n_best(
        self, default: Outputs, n_best: Outputs, description: Mapping[str, Any]
    ) -> tuple[list[str], str]:
        detail = f"beam of {n_best['scores'].shape[1]}, best first"
        if description.get("lexicon"):  # its answers, with the score 0, are not in n_best
            rows = default["score"] != 0
            default, n_best = (
                {name: values[rows] for name, values in outputs.items()}
                for outputs in (default, n_best)
            )
        return self.n_best_problems(default, n_best), detail

    def _check_with_terms(
        self, default: Outputs, found: Outputs, description: Mapping[str, Any]
    ) -> tuple[list[str], str]:
        lines = self.further_columns("with_terms", len(found["written"]))["terms"]
        without = np.array(lines, object) == b""
        problems, detail = [], f"{without.sum()} without terms"
        if not description.get("shortlist"):  # which contains the terms of all rows
            detail += ", as in serving_default"
            problems = self.differences(
                {name: values[without] for name, values in default.items()},
                {name: values[without] for name, values in found.items() if name != "written"},
            )
        if (found["written"][without] != b"").any():
            problems.append("written of a text without terms is not empty")
        return problems, detail

    def _check_confidence(
        self, _: Outputs, confidence: Outputs, description: Mapping[str, Any]
    ) -> tuple[list[str], str]:
        detail = "log-probabilities, entropies and margins are in range, 0 on padding"
        return self.confidence_problems(confidence), detail

    def _check_attention(
        self, _: Outputs, attention: Outputs, description: Mapping[str, Any]
    ) -> tuple[list[str], str]:
        detail = "weights sum to at most 1 over the source"
        if "generate_probability" in attention:
            detail += ", generate_probability is from 0 to 1"
        return self.attention_problems(attention), f"{detail}, 0 on padding"


# Text of the contexts in the examples.
_STORY = "Mary went to the bathroom .\nJohn moved to the hallway ."


class _WordContract(TranslationContract):
    """Contract of exports that split texts into words, which `n_best` does not."""

    example_rows = tuple((text,) for text in ("dogs", "reading", "", "   ", "naïve"))


class ContextContract(TranslationContract):
    """Contract of exports that translate texts with contexts."""

    inputs = ("text", "context")
    outputs: ClassVar = {
        **TranslationContract.outputs,
        "attention": {
            **TranslationContract.outputs["attention"],
            "context_tokens": ("string", ("batch", "context_length")),
            "context_weights": ("float32", ("batch", "target_length", "context_length")),
            "context_probability": ("float32", ("batch", "target_length")),
        },
    }
    # The examples have several lengths, for padding; an empty text, an empty context, or both; and
    # characters that are in no vocabulary.
    example_rows = (
        ("Where is Mary ?", _STORY),
        ("Where is John ?", ""),
        ("", _STORY),
        ("Who is naïve 🙂 ?", f"{_STORY} Daniel is naïve 🙂 ." * 3),
        ("   ", " "),
    )
    odd_values: ClassVar = {
        "text": ODD_TEXTS,
        "context": {**ODD_TEXTS, "100,000 characters": b"Mary went to the bathroom . " * 3600},
    }
    optional_outputs = TranslationContract.optional_outputs | {"context_probability"}

    def warmup_batches(self) -> Iterator[dict[str, list[bytes]]]:
        """Yield the batches of a translation, with contexts four times as long as the texts."""
        for batch in super().warmup_batches():
            yield {**batch, "context": [b" ".join([text] * 4) for text in batch["text"]]}

    def attention_problems(self, attention: Mapping[str, np.ndarray]) -> list[str]:
        """Check the attention weights of the source and of the context.

        Args:
            attention: Outputs of `attention`; see `kerasnmt.tasks.TranslationTask`.

        Returns:
            A list of the problems of both texts (see `TranslationContract`), and of probabilities
            of generating and of copying from the context that sum to more than 1, to 1e-3.
        """
        problems = super().attention_problems(attention)
        context = {
            "source_tokens": attention["context_tokens"],
            "target_tokens": attention["target_tokens"],
            "weights": attention["context_weights"],
        }
        further = super().attention_problems(context)
        problems += [f"context: {one}" for one in further]
        if {"context_probability", "generate_probability"} <= attention.keys():
            probability = attention["context_probability"]
            wrong = probability < 0
            wrong |= probability + attention["generate_probability"] > 1 + WEIGHT_TOLERANCE
            if wrong.any():
                problems.append(
                    f"context_probability has {probability[wrong][0]:.4f}, expected 0 to 1 minus "
                    "generate_probability"
                )
            if (probability[attention["target_tokens"] == b""] != 0).any():
                problems.append("context_probability of padding is not 0")
        return problems

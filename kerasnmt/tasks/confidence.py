"""Confidence of a model in its translations, by words and by sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerasnmt.calibration import Calibration, expected_calibration_error, right_words
from kerasnmt.tasks.sentence_attention import decode, merged
from kerasnmt.text.guess_kind import guess_kind
from kerasnmt.text.sentence_ends import join_texts
from kerasnmt.text.word_indices import word_indices
from kerasnmt.token_confidence import NUMBERS

__all__ = ["Calibration", "Confidence", "expected_calibration_error", "right_words"]


class Confidence(NamedTuple):
    """A translation, and how sure a model is of it.

    Words are the results of `str.split` on the text; in a script without spaces, they are the
    tokens (see `kerasnmt.text.word_indices`). The probability of a word is the product of the
    probabilities of its tokens, its entropy is the largest of theirs, and its margin the smallest.

    Attributes:
        text: The translation.
        score: Score of the search, the log-probability divided by the length penalty.
        words: Words of the translation.
        probabilities: Probability of each word, given the words before it, float64 `[words]`.
        entropies: Entropy of the model's distribution in place of each word, in nats, float64
            `[words]`.
        margins: Probability of each word minus the probability of the best other choice, at the
            token where this is smallest, float64 `[words]`. It is negative where another token is
            more probable.
        log_probability: Log-probability of the translation, with its end token.
        tokens: Number of tokens of the translation, with its end token.
        entropy: Mean of the entropies of all tokens.
        margin: Smallest margin of all tokens.
        calibrated_probabilities: Probability that each word is right, float64 `[words]`, or None if
            the model has no calibration; see `TranslationModel.calibrate`.
        calibrated_probability: Expected share of right words, the mean of
            `calibrated_probabilities`, or None if the model has no calibration. Without words, it
            is that of the geometric mean of the tokens' probabilities; for an empty source, 1.
    """

    text: str
    score: float
    words: list[str]
    probabilities: np.ndarray
    entropies: np.ndarray
    margins: np.ndarray
    log_probability: float
    tokens: int
    entropy: float
    margin: float
    calibrated_probabilities: np.ndarray | None = None
    calibrated_probability: float | None = None

    @property
    def probability(self) -> float:
        """Probability of the translation, the product of the probabilities of all tokens."""
        return float(np.exp(self.log_probability))

    @property
    def of_words(self) -> np.ndarray:
        """The calibrated probabilities of the words or, without a calibration, the model's."""
        calibrated = self.calibrated_probabilities
        return self.probabilities if calibrated is None else calibrated

    @property
    def of_text(self) -> float:
        """The calibrated probability of the translation or, without a calibration, the model's."""
        calibrated = self.calibrated_probability
        return self.probability if calibrated is None else calibrated

    @classmethod
    def of_batch(
        cls, outputs: Mapping[str, np.ndarray], kind: str | None = None
    ) -> list[Confidence]:
        """Return one object for each row of a batch.

        Args:
            outputs: Outputs of the signature `confidence`; see `TranslationTask`.
            kind: Kind of the target tokens; see `kerasnmt.text.word_indices`. None to guess it.

        Returns:
            The confidence in each row, without padding.
        """
        rows, parameters = [], outputs.get("calibration")
        for row, padded in enumerate(outputs["target_tokens"]):
            tokens = [decode(token) for token in padded if token]
            numbers = {name: outputs[name][row, : len(tokens)] for name in NUMBERS}
            text, score = decode(outputs["translation"][row]), float(outputs["score"][row])
            known = kind or guess_kind(text, tokens)
            calibration = None
            if parameters is not None:  # older exports have more numbers between
                slope, bias, *_, pairs = parameters[row].tolist()
                calibration = Calibration(slope, bias, int(pairs))
            rows.append(cls.of_tokens(text, score, tokens, known, numbers, calibration))
        return rows

    @classmethod
    def of_tokens(
        cls,
        text: str,
        score: float,
        tokens: Sequence[str],
        kind: str,
        numbers: Mapping[str, np.ndarray],
        calibration: Calibration | None = None,
    ) -> Confidence:
        """Return the confidence in one translation.

        Args:
            text: The translation.
            score: Score of the search.
            tokens: Tokens of the translation, with its end token.
            kind: Kind of the tokens.
            numbers: `log_probability`, `entropy` and `margin` of each token, `[tokens]` each.
            calibration: Calibration of the model, or None.

        Returns:
            The confidence.
        """
        log_probability, entropy, margin = (
            np.asarray(numbers[name], "float64") for name in NUMBERS
        )
        words, indices = _words(tokens, kind)
        parts = [indices == word for word in range(len(words))]
        probabilities = np.array([np.exp(log_probability[part].sum()) for part in parts], float)
        total, count = float(log_probability.sum()), len(tokens)
        calibrated: dict[str, Any] = {}
        if calibration is not None:
            of_words = calibration.of_words(probabilities)
            counted = of_words if words else calibration.of_words(np.exp([total / max(count, 1)]))
            calibrated = {
                "calibrated_probabilities": of_words,
                "calibrated_probability": float(counted.mean()) if count else 1.0,
            }
        return cls(
            text=text,
            score=score,
            words=words,
            probabilities=probabilities,
            entropies=np.array([entropy[part].max() for part in parts], float),
            margins=np.array([margin[part].min() for part in parts], float),
            log_probability=total,
            tokens=count,
            entropy=float(entropy.mean()) if count else 0.0,
            margin=float(margin.min(initial=1.0)),
            **calibrated,
        )

    @classmethod
    def joined(cls, sentences: Sequence[Confidence]) -> Confidence:
        """Return the confidence in the translation of a text, from those in its sentences.

        Scores and log-probabilities are added. The entropy is the mean over all tokens, and the
        calibrated probability is the mean over all words. A sentence whose translation is empty
        counts as one word, unless it is empty itself.
        """
        if len(sentences) == 1:
            return sentences[0]
        tokens = np.array([one.tokens for one in sentences])
        counts = np.array([len(one.words) for one in sentences])

        def column(name: str) -> np.ndarray:
            return np.concatenate([getattr(one, name) for one in sentences])

        calibrated: dict[str, Any] = {}
        if sentences[0].calibrated_probability is not None:
            shares = np.array([one.calibrated_probability for one in sentences])
            weights = np.where(tokens > 0, np.maximum(counts, 1), 0)
            share = float(shares @ weights / weights.sum()) if weights.any() else 1.0
            calibrated = {
                "calibrated_probabilities": column("calibrated_probabilities"),
                "calibrated_probability": share,
            }
        entropies = np.array([one.entropy for one in sentences])
        return cls(
            text=join_texts([one.text for one in sentences]),
            score=sum(one.score for one in sentences),
            words=[word for one in sentences for word in one.words],
            probabilities=column("probabilities"),
            entropies=column("entropies"),
            margins=column("margins"),
            log_probability=sum(one.log_probability for one in sentences),
            tokens=int(tokens.sum()),
            entropy=float(entropies @ tokens / max(tokens.sum(), 1)),
            margin=min(one.margin for one in sentences),
            **calibrated,
        )

    def document(self) -> dict[str, Any]:
        """Return the confidence as values for JSON."""
        names = ("score", "log_probability", "probability", "entropy", "margin")
        document: dict[str, Any] = {"translation": self.text}
        document |= {name: round(getattr(self, name), 6) for name in names}
        columns: dict[str, Any] = {
            "word": self.words,
            "probability": self.probabilities,
            "entropy": self.entropies,
            "margin": self.margins,
        }
        if self.calibrated_probability is not None:
            document["calibrated_probability"] = round(self.calibrated_probability, 6)
            columns["calibrated_probability"] = self.calibrated_probabilities
        document["words"] = [
            {key: value if key == "word" else round(float(value), 6) for key, value in row}
            for row in (
                zip(columns, values, strict=True) for values in zip(*columns.values(), strict=True)
            )
        ]
        return document


def _words(tokens: Sequence[str], kind: str) -> tuple[list[str], np.ndarray]:
    """Return the words of a translation, and the index of each token's word, or -1."""
    written, of_token = merged(tokens, kind)
    pairs = zip(of_token, word_indices(tokens, kind), strict=True)
    order = sorted({one for one, word in pairs if word >= 0})
    ranks = np.array([order.index(one) if one in order else -1 for one in of_token], int)
    return [written[one].replace("<unk>", "⁇") for one in order], ranks

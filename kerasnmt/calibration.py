"""Calibration of confidence: how often words of a given probability are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, Self

import numpy as np

# Number of pairs that are enough for a calibration.
PAIRS = 300
# Probabilities outside this range do not differ in float32.
_LEAST = 1e-6


@dataclass(frozen=True)
class Calibration:
    """Parameters that turn a model's probabilities into those that words are right.

        P(word is right) = sigmoid(word_slope * logit(p) + word_bias)

    p is the model's probability of a word. The slope is 1 divided by a temperature. A model whose
    probabilities are right has the slope 1 and no bias; smaller slopes belong to models that are
    too sure. The expected share of right words of a translation is the mean over its words.

    Source: Guo, Pleiss, Sun and Weinberger (2017), "On calibration of modern neural networks",
    section 4.2, for temperatures; Platt (1999), "Probabilistic outputs for support vector
    machines", for the fit with a bias; Ueffing and Ney (2007), "Word-level confidence estimation
    for machine translation", section 2, for words that an alignment calls right.

    Attributes:
        word_slope: Inverse temperature of words.
        word_bias: Bias of words.
        pairs: Number of sentence pairs that the parameters were fitted to.
    """

    word_slope: float
    word_bias: float
    pairs: int

    @classmethod
    def fit(cls, confidences: Sequence[Any], references: Sequence[str]) -> Self:
        """Fit the parameters to translations of sentences with known references.

        The labels of the words are those of `right_words`. Translations without words do not count.

        Args:
            confidences: A `kerasnmt.tasks.Confidence` for each sentence.
            references: Reference of each sentence.

        Returns:
            The calibration.

        Raises:
            ValueError: If there are no words, or all are right, or all are wrong.
        """
        labels = [
            (one, right_words(one.words, one.text, reference))
            for one, reference in zip(confidences, references, strict=True)
            if one.words
        ]
        words = [right for _, right in labels]
        if len({*np.concatenate([[], *words]).tolist()}) < 2:
            raise ValueError(
                "Expected right and wrong words in the translations, for a calibration. Received: "
                f"{len(confidences)} translations with {sum(map(len, words))} words, of which "
                f"{int(sum(map(sum, words)))} are right."
            )
        probabilities = np.concatenate([one.probabilities for one, _ in labels])
        right = np.concatenate(words)
        slope, bias = fit_logistic(_logit(probabilities)[:, None], right).tolist()
        return cls(slope, bias, len(labels))

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> Self | None:
        """Return the calibration of a document, or None without one.

        Args:
            document: Result of `document`, or None.

        Raises:
            ValueError: If the document is not one of a calibration.
        """
        if document is None:
            return None
        names = [one.name for one in fields(cls)]
        if set(names) - document.keys():
            raise ValueError(
                f"Expected a calibration with {', '.join(names)}. Received: {document!r:.200}"
            )
        return cls(**{name: document[name] for name in names})

    def document(self) -> dict[str, Any]:
        """Return the parameters as values for JSON."""
        return asdict(self)

    def of_words(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the probability that each word is right, for the model's probabilities."""
        return _sigmoid(self.word_slope * _logit(probabilities) + self.word_bias)


def spread(rows: int, most: int = PAIRS) -> list[int]:
    """Return the indices of at most `most` rows from all parts of data, which is often sorted."""
    return np.unique(np.linspace(0, rows - 1, min(most, rows)).astype(int)).tolist()


def fit_logistic(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Fit a logistic regression by Newton's method.

    Platt's targets take the place of the labels 0 and 1, so the parameters stay finite if all
    labels are equal or the features separate them. The result depends on nothing random.

    Args:
        features: Float `[examples, features]`.
        labels: Numbers from 0 to 1, `[examples]`. A number between is the share of examples with
            the label 1.

    Returns:
        The weights of the features, and the bias, float64 `[features + 1]`.
    """
    labels = np.asarray(labels, "float64")
    ones = labels.sum()
    zeros = len(labels) - ones
    high, low = (ones + 1) / (ones + 2), 1 / (zeros + 2)
    targets = labels * high + (1 - labels) * low
    inputs = np.column_stack([features, np.ones(len(features))]).astype("float64")
    # Features that never vary have no weight.
    ridge = 1e-6 * np.eye(inputs.shape[1])
    weights = np.zeros(inputs.shape[1])
    loss = _loss(inputs @ weights, targets)
    for _ in range(50):
        predicted = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (predicted - targets)
        hessian = (inputs * (predicted * (1 - predicted))[:, None]).T @ inputs + ridge
        step, size = np.linalg.solve(hessian, gradient), 1.0
        while size > 1e-6 and _loss(inputs @ (weights - size * step), targets) > loss:
            size /= 2
        weights = weights - size * step
        loss = _loss(inputs @ weights, targets)
        if np.abs(size * step).max() < 1e-9:
            break
    return weights


def right_words(words: Sequence[str], text: str, reference: str) -> np.ndarray:
    """Return which words of a translation a reference confirms.

    A word is right if it belongs to a longest common subsequence of translation and reference. In a
    text without spaces between words, all characters of the word must belong to it.

    Args:
        words: Words of the translation; see `kerasnmt.tasks.Confidence`.
        text: The translation.
        reference: The reference.

    Returns:
        Boolean `[words]`.
    """
    if list(words) == text.split():
        return _common(words, reference.split())
    kept = _common("".join(words), "".join(reference.split()))
    ends = np.cumsum([0, *map(len, words)])
    return np.array([kept[start:end].all() for start, end in pairwise(ends)], bool)


def expected_calibration_error(
    probabilities: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray, bins: int = 10
) -> float:
    """Return the expected calibration error (ECE).

        ECE = sum_b (n_b / n) |accuracy_b - confidence_b|

    b are bins of equal width from 0 to 1. A bin includes its upper bound.

    Source: Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated probabilities using
    Bayesian binning"; Guo, Pleiss, Sun and Weinberger (2017), "On calibration of modern neural
    networks", equation 3.

    Args:
        probabilities: Probability that each word is right, from 0 to 1, `[words]`.
        right: Whether it is right, or the share that is right, `[words]`.
        bins: Number of bins.

    Returns:
        The error, from 0 to 1.

    Raises:
        ValueError: If there are no words, the lengths differ, a probability is not from 0 to 1, or
            there are no bins.
    """
    probabilities = np.asarray(probabilities, "float64").ravel()
    right = np.asarray(right, "float64").ravel()
    inside = (probabilities >= 0) & (probabilities <= 1)
    if not len(right) or probabilities.shape != right.shape or not inside.all() or bins < 1:
        raise ValueError(
            "Expected as many probabilities from 0 to 1 as labels, at least one, and at least one "
            f"bin. Received: {len(probabilities)} probabilities, {len(right)} labels, bins={bins}"
        )
    bin_of = np.maximum(np.ceil(probabilities * bins).astype(int) - 1, 0)
    gaps = np.bincount(bin_of, right - probabilities, bins)
    return float(np.abs(gaps).sum() / len(right))


def _common(one: Sequence[str], other: Sequence[str]) -> np.ndarray:
    """Return which items of the first sequence belong to a longest common subsequence."""
    lengths = np.zeros((len(one) + 1, len(other) + 1), int)
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            if one[i] == other[j]:
                lengths[i, j] = lengths[i + 1, j + 1] + 1
            else:
                lengths[i, j] = max(lengths[i + 1, j], lengths[i, j + 1])
    kept, i, j = np.zeros(len(one), bool), 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            kept[i], i, j = True, i + 1, j + 1
        elif lengths[i + 1, j] >= lengths[i, j + 1]:
            i += 1
        else:
            j += 1
    return kept


def _logit(probabilities: Any) -> Any:
    clipped = np.clip(np.asarray(probabilities, "float64"), _LEAST, 1 - _LEAST)
    return np.log(clipped) - np.log1p(-clipped)


def _sigmoid(values: Any) -> Any:
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(values)))


def _loss(logits: np.ndarray, targets: np.ndarray) -> float:
    """Return the cross-entropy of targets from 0 to 1."""
    return float((np.logaddexp(0, logits) - targets * logits).sum())

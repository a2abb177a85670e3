"""IBM model 1, which aligns words statistically, without a neural network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

# The base exceeds any number of words, so that the id -1 of an unseen word is in no known pair.
_BASE = 2**31


class IBMModel1:
    """IBM model 1: word translation probabilities t(f | e), learned by EM.

        P(f | e) = prod_j 1 / (l + 1) sum_{i=0..l} t(f_j | e_i)

    Each target word f_j comes from one of the l source words e_i, or from the null word e_0. All
    positions are equally likely. The factor for the length of the target is omitted. EM starts from
    uniform t, and each iteration counts pairs of words and computes t from the counts:

        c(f | e) = sum over sentences and positions of t(f | e) / sum_i t(f | e_i)
        t(f | e) = c(f | e) / sum_f' c(f' | e)

    Words are split by `str.split`.

    ```python
    model = IBMModel1().fit([("das Haus", "the house"), ("das Buch", "the book")])
    model.align("das Haus", "the house")  # [(0, 0), (1, 1)]
    ```

    Source: Brown, Della Pietra, Della Pietra and Mercer (1993), "The mathematics of statistical
    machine translation: parameter estimation", section 4.1.

    Args:
        iterations: Number of EM iterations, at least 1.

    Attributes:
        log_likelihoods: List of the sum of log P(f | e) over all pairs, at the start of each
            iteration of `fit`. EM never lowers it.

    Raises:
        ValueError: If `iterations` is below 1.
    """

    def __init__(self, iterations: int = 10) -> None:
        if iterations < 1:
            raise ValueError(f"Expected iterations >= 1. Received: iterations={iterations}")
        self.iterations = iterations
        self.log_likelihoods: list[float] = []
        self._pairs = self._t = np.zeros(0)

    def fit(self, pairs: Iterable[Sequence]) -> Self:
        """Learn t from uniform probabilities. The results of an earlier `fit` are not used.

        Args:
            pairs: Tuples that start with a source and a target, both `str`, such as
                `builtin_corpus` returns.

        Returns:
            The model itself.

        Raises:
            ValueError: If no pair has a target word.
        """
        source_ids: dict[str | None, int] = {None: 0}  # None is the null word
        target_ids: dict[str | None, int] = {}
        links, widths = [], []
        for source, target, *_ in pairs:
            e = _ids([None, *source.split()], source_ids)
            f = _ids(target.split(), target_ids)
            links.append(_word_pairs(f, e).ravel())
            widths += [len(e)] * len(f)
        if not widths:
            raise ValueError(
                "Expected pairs (source, target) with at least one target word. "
                f"Received: {len(links)} pairs without target words"
            )
        # A link connects a source position and a target position of a sentence. An entry of t is a
        # pair of words. All links of the same two words share one entry.
        self._source_ids, self._target_ids = source_ids, target_ids
        self._pairs, entry = np.unique(np.concatenate(links), return_inverse=True)
        position = np.repeat(np.arange(len(widths)), widths)
        source_id = self._pairs % _BASE
        self._t = np.full(len(self._pairs), 1 / len(target_ids))
        self.log_likelihoods = []
        for _ in range(self.iterations):
            t = self._t[entry]
            total = np.bincount(position, t)
            self.log_likelihoods.append(float(np.log(total / widths).sum()))
            counts = np.bincount(entry, t / total[position])
            self._t = counts / np.bincount(source_id, counts)[source_id]
        return self

    def probability(self, target: str, source: str | None) -> float:
        """Return t(target | source) of two words. The source None is the null word.

        It is 0 if the words do not occur in the same pair.

        Raises:
            ValueError: If `fit` has not been called.
        """
        return float(self._probabilities([target], [source])[0, 0])

    def likely(self, count: int) -> dict[str, list[str]]:
        """Return the most probable target words of each source word, best first.

        Args:
            count: Maximum number of target words of a source word.

        Raises:
            ValueError: If `fit` has not been called.
        """
        self._need_pairs()
        order = np.lexsort((-self._t, self._pairs % _BASE))
        e, f = self._pairs[order] % _BASE, self._pairs[order] // _BASE
        ranks = np.arange(len(e)) - np.searchsorted(e, e)
        kept = ranks < count
        sources, targets = [*self._source_ids], [*self._target_ids]
        words: dict[str, list[str]] = {word: [] for word in sources if word is not None}
        for i, j in zip(e[kept].tolist(), f[kept].tolist(), strict=True):
            if i:
                words[sources[i]].append(targets[j])
        return words

    def align(self, source: str, target: str) -> list[tuple[int, int]]:
        """Link each target word to its most probable source word.

        A target word has no link if the null word is the most probable source word, or if no pair
        of `fit` contains the target word. Source words that are in no pair of `fit` have no links.

        Args:
            source: A sentence.
            target: Its translation.

        Returns:
            Links (source word, target word), counted from 0, at most one for each target word,
            sorted by target word. In a tie, the first source word wins, and the null word loses.

        Raises:
            ValueError: If `fit` has not been called.
        """
        words = source.split()
        t = self._probabilities(target.split(), [*words, None])
        best = t.argmax(axis=1)
        return [(int(i), j) for j, i in enumerate(best) if i < len(words) and t[j, i]]

    def _probabilities(self, target: list[str], source: list[str | None]) -> np.ndarray:
        """Look up t, float64 `[target words, source words]`."""
        self._need_pairs()
        f = np.array([self._target_ids.get(word, -1) for word in target], int)
        e = np.array([self._source_ids.get(word, -1) for word in source], int)
        pairs = _word_pairs(f, e)
        entry = np.searchsorted(self._pairs, pairs).clip(max=len(self._pairs) - 1)
        return np.where(self._pairs[entry] == pairs, self._t[entry], 0.0)

    def _need_pairs(self) -> None:
        if not len(self._pairs):
            raise ValueError(
                "Expected a fitted IBMModel1. Received: a model without pairs. Call fit(pairs) "
                "first."
            )


def _word_pairs(f: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return one number for each pair of a target and a source id, int64 `[target, source]`."""
    return f[:, None] * _BASE + e


def _ids(words: Sequence[str | None], ids: dict[str | None, int]) -> np.ndarray:
    """Return the ids of words. New words get the next ids."""
    return np.array([ids.setdefault(word, len(ids)) for word in words], int)

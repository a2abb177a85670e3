"""IBM model 1: statistical word alignment, without a neural network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

# Greater than any number of words, so that the id -1, an unseen word, is in no known pair.
_BASE = 2**31


class IBMModel1:
    """Word translation probabilities t(target word | source word), learned by EM.

    Every target word f_j comes from one source word or from the null word e_0; all positions are
    equally likely:

        P(f | e) = prod_j 1 / (l + 1) sum_{i=0..l} t(f_j | e_i)

    for l source words, without the factor for the target's length. EM starts from uniform t, counts

        c(f | e) = sum over sentences and positions of t(f | e) / sum_i t(f | e_i)

    and uses t(f | e) = c(f | e) / sum_f' c(f' | e) in the next iteration.

    Source: Brown, Della Pietra, Della Pietra and Mercer (1993), "The mathematics of statistical
    machine translation: parameter estimation", section 4.1.

    ```python
    model = IBMModel1().fit([("das Haus", "the house"), ("das Buch", "the book")])
    model.align("das Haus", "the house")  # [(0, 0), (1, 1)]
    ```

    Words are split by `str.split`.

    Args:
        iterations: Number of EM iterations, at least 1.

    Attributes:
        log_likelihoods: After `fit`, the sum of log P(f | e) over all pairs at the start of each
            iteration, a list of floats. EM never lowers it.

    Raises:
        ValueError: If `iterations` is below 1.
    """

    def __init__(self, iterations: int = 10) -> None:
        if iterations < 1:
            raise ValueError(
                f"IBMModel1 expects iterations >= 1. Received: iterations={iterations}"
            )
        self.iterations = iterations
        self.log_likelihoods: list[float] = []
        self._pairs = self._t = np.zeros(0)

    def fit(self, pairs: Iterable[Sequence]) -> Self:
        """Learn t from uniform probabilities, without the results of an earlier `fit`.

        Args:
            pairs: Tuples that start with a source and a target, both `str`, as from
                `builtin_corpus`.

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
                "IBMModel1 expects pairs (source, target) with at least one target word. "
                f"Received: {len(links)} pairs without any"
            )
        # A link connects a source and a target position of a sentence; an entry of t is a pair of
        # words. All links of the same two words share one entry.
        self._source_ids, self._target_ids = source_ids, target_ids
        self._pairs, entry = np.unique(np.concatenate(links), return_inverse=True)
        place = np.repeat(np.arange(len(widths)), widths)
        source_id = self._pairs % _BASE
        self._t = np.full(len(self._pairs), 1 / len(target_ids))
        self.log_likelihoods = []
        for _ in range(self.iterations):
            t = self._t[entry]
            total = np.bincount(place, t)
            self.log_likelihoods.append(float(np.log(total / widths).sum()))
            counts = np.bincount(entry, t / total[place])
            self._t = counts / np.bincount(source_id, counts)[source_id]
        return self

    def probability(self, target: str, source: str | None) -> float:
        """Return t(target | source) of two words; the source None is the null word.

        It is 0 for words that never occurred in the same pair.

        Raises:
            ValueError: If the model is not fitted.
        """
        return float(self._probabilities([target], [source])[0, 0])

    def align(self, source: str, target: str) -> list[tuple[int, int]]:
        """Link each target word to its most probable source word.

        A target word has no link if the null word is the most probable one, or if no pair of `fit`
        has the target word. Source words that are in no pair of `fit` have no links.

        Args:
            source: A sentence.
            target: Its translation.

        Returns:
            0-based links (source word, target word), at most one for each target word, ordered by
            target word. The first source word wins a tie; the null word loses ties.

        Raises:
            ValueError: If the model is not fitted.
        """
        words = source.split()
        t = self._probabilities(target.split(), [*words, None])
        best = t.argmax(axis=1)
        return [(int(i), j) for j, i in enumerate(best) if i < len(words) and t[j, i]]

    def _probabilities(self, target: list[str], source: list[str | None]) -> np.ndarray:
        """Look up t, float64 `[target words, source words]`."""
        if not len(self._pairs):
            raise ValueError(
                "IBMModel1 expects to be fitted first. Received: a model without "
                "pairs. Call fit(pairs) first."
            )
        f = np.array([self._target_ids.get(word, -1) for word in target], int)
        e = np.array([self._source_ids.get(word, -1) for word in source], int)
        pairs = _word_pairs(f, e)
        entry = np.searchsorted(self._pairs, pairs).clip(max=len(self._pairs) - 1)
        return np.where(self._pairs[entry] == pairs, self._t[entry], 0.0)


def _word_pairs(f: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return one number for each pair of a target and a source id, int64 `[target, source]`."""
    return f[:, None] * _BASE + e


def _ids(words: Sequence[str | None], ids: dict[str | None, int]) -> np.ndarray:
    """Return the ids of words; new words get the next ids."""
    return np.array([ids.setdefault(word, len(ids)) for word in words], int)

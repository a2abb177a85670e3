"""IBM model 1: word alignment by counting, without any neural network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

# Above any number of words, so that an id of -1, an unseen word, is in no known pair.
_BASE = 2**31


class IBMModel1:
    """Word translation probabilities t(target word | source word), learned by EM.

    Every target word f_j comes from one source word or from the null word e_0, each place as
    likely as any other:

        P(f | e) = prod_j 1 / (l + 1) sum_{i=0..l} t(f_j | e_i)

    for l source words; the factor for the target's length is left out. From uniform t, EM counts

        c(f | e) = sum over sentences and places of t(f | e) / sum_i t(f | e_i)

    and takes t(f | e) = c(f | e) / sum_f' c(f' | e) for the next iteration.

    Source: Brown, Della Pietra, Della Pietra and Mercer (1993), "The mathematics of statistical
    machine translation: parameter estimation", section 4.1.

    ```python
    model = IBMModel1().fit([("das Haus", "the house"), ("das Buch", "the book")])
    model.align("das Haus", "the house")  # [(0, 0), (1, 1)]
    ```

    Words are what `str.split` finds.

    Args:
        iterations: Of EM, at least 1.

    Attributes:
        log_likelihoods: After `fit` a float for each iteration, the sum of log P(f | e) over all
            pairs under the t that the iteration began with; EM never lowers it.

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
        """Learns t from nothing; what an earlier `fit` learned is forgotten.

        Args:
            pairs: Tuples that begin with a source and a target, both `str`; as `builtin_corpus`
                gives.

        Returns:
            The model itself.

        Raises:
            ValueError: If there is no target word in all pairs.
        """
        source_ids, target_ids = {None: 0}, {}  # None is the null word
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
        # A link is a place of a sentence's source with one of its target, and an entry of t is a
        # pair of words: all links of two words share one.
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
        """Returns t(target | source) of two words; a source of None is the null word.

        Words that never stood in one pair have 0.

        Raises:
            ValueError: If the model is not fitted.
        """
        return float(self._probabilities([target], [source])[0, 0])

    def align(self, source: str, target: str) -> list[tuple[int, int]]:
        """Links each target word with the source word that it most probably comes from.

        A target word has no link where the null word is the most probable, or where it was in no
        pair of `fit`; a source word that was in none is never linked.

        Args:
            source: A sentence.
            target: Its translation.

        Returns:
            0-based links (source word, target word), at most one for each target word, ordered by
            target word; the first source word wins a tie, the null word none.

        Raises:
            ValueError: If the model is not fitted.
        """
        words = source.split()
        t = self._probabilities(target.split(), [*words, None])
        best = t.argmax(axis=1)
        return [(int(i), j) for j, i in enumerate(best) if i < len(words) and t[j, i]]

    def _probabilities(self, target: list[str], source: list[str | None]) -> np.ndarray:
        """Looks up t, float64 `[target words, source words]`."""
        if not len(self._pairs):
            raise ValueError(
                "IBMModel1 expects to be fitted before it is asked. Received: a model without "
                "pairs. Call fit(pairs) first."
            )
        f = np.array([self._target_ids.get(word, -1) for word in target], int)
        e = np.array([self._source_ids.get(word, -1) for word in source], int)
        pairs = _word_pairs(f, e)
        entry = np.searchsorted(self._pairs, pairs).clip(max=len(self._pairs) - 1)
        return np.where(self._pairs[entry] == pairs, self._t[entry], 0.0)


def _word_pairs(f: np.ndarray, e: np.ndarray) -> np.ndarray:
    """One number for each pair of a target and a source id, int64 `[target, source]`."""
    return f[:, None] * _BASE + e


def _ids(words: list[str | None], ids: dict[str | None, int]) -> np.ndarray:
    """The ids of words; new words get the next ones."""
    return np.array([ids.setdefault(word, len(ids)) for word in words], int)

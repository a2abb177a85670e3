"""Rules that clean sentence pairs."""

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, Self

from kerasnmt.scripts import is_script, script_of

# Pairs from which `fitted` learns what is usual.
_SAMPLE = 10_000
# Characters that are added to both sides of a length ratio, so that short texts may differ more.
_MARGIN = 10


class PairFilter:
    """Rules that say which pairs of a corpus are not translations.

    A pair is dropped for the first of these reasons:

    - `empty`: The source or the target has no characters but white space.
    - `equal`: Source and target are the same text, in any case.
    - `duplicate`: The same pair came before. A hash of 8 bytes for each pair is in memory.
    - `ratio`: (longer + 10) / (shorter + 10) exceeds `max_ratio`, where the lengths are characters,
      and that of the source is multiplied by `ratio`.
    - `script`: Most of a text is in another script than usual. Texts without letters pass.

    ```python
    pairs = [("I see a dog.", "Je vois un chien."), ("I see a dog.", "I see a dog.")]
    rules = PairFilter.fitted(pairs)
    clean = [pair for pair in pairs if rules.reason(*pair) is None]
    ```

    Args:
        max_ratio: Largest ratio of lengths.
        ratio: Usual number of target characters for each source character.
        scripts: Script of the sources and of the targets, such as `("latin", "japanese")`, in the
            words of Unicode; "any" or None for no rule.
        without: Reasons for which no pair is dropped.

    Raises:
        ValueError: If `max_ratio` is below 1, `ratio` is not positive, or a script or a reason is
            unknown.
    """

    reasons = ("empty", "equal", "duplicate", "ratio", "script")

    def __init__(
        self,
        *,
        max_ratio: float = 3.0,
        ratio: float = 1.0,
        scripts: Sequence[str | None] = (None, None),
        without: Collection[str] = (),
    ) -> None:
        if not max_ratio >= 1:
            raise ValueError(f"Expected max_ratio of at least 1. Received: max_ratio={max_ratio}.")
        if unknown := [name for name in without if name not in self.reasons]:
            raise ValueError(
                f"Expected rules among {', '.join(self.reasons)}. Received: {', '.join(unknown)}."
            )
        if not 0 < ratio < float("inf"):
            raise ValueError(f"Expected a positive ratio. Received: ratio={ratio}.")
        self.max_ratio, self.ratio = max_ratio, ratio
        self.scripts = _checked_scripts(scripts)
        self.without = frozenset(without)
        self._seen: set[int] = set()

    @classmethod
    def fitted(
        cls,
        pairs: Iterable[tuple[str, str]],
        *,
        max_ratio: float = 3.0,
        scripts: Sequence[str | None] | None = None,
        without: Collection[str] = (),
    ) -> Self:
        """Create a filter, with the ratio and the scripts of the first 10,000 pairs.

        Args:
            pairs: Sources and targets. An iterator loses the pairs that are read here, so pass a
                list or an iterator of their own.
            max_ratio: See `PairFilter`.
            scripts: Scripts instead of the usual ones; see `PairFilter`.
            without: See `PairFilter`.
        """
        sample = [*islice(pairs, _SAMPLE)]
        sources, targets = ([pair[side] for pair in sample] for side in (0, 1))
        lengths = [sum(map(len, texts)) for texts in (sources, targets)]
        return cls(
            max_ratio=max_ratio,
            ratio=lengths[1] / lengths[0] if all(lengths) else 1.0,
            scripts=scripts or (script_of(sources), script_of(targets)),
            without=without,
        )

    def reason(self, source: str, target: str) -> str | None:
        """Return why a pair is dropped, or None if it is kept.

        Pairs must come in order, because the filter keeps what it has seen.
        """
        source, target = " ".join(source.split()), " ".join(target.split())
        found = {
            "empty": not (source and target),
            "equal": source.casefold() == target.casefold(),
            "duplicate": self._is_duplicate(source, target),
            "ratio": self._unequal(len(source) * self.ratio, len(target)) > self.max_ratio,
        }
        for name, dropped in found.items():
            if dropped and name not in self.without:
                return name
        if "script" not in self.without and not all(map(_is_in, (source, target), self.scripts)):
            return "script"
        return None

    def _is_duplicate(self, source: str, target: str) -> bool:
        if "duplicate" in self.without:
            return False
        pair = f"{source}\t{target}".encode("utf-8", "replace")
        key = int.from_bytes(blake2b(pair, digest_size=8).digest())
        seen = key in self._seen
        self._seen.add(key)
        return seen

    @staticmethod
    def _unequal(one: float, other: float) -> float:
        return (max(one, other) + _MARGIN) / (min(one, other) + _MARGIN)


def _checked_scripts(scripts: Any) -> tuple[str | None, str | None]:
    """Return the scripts of both sides in lower case, or None for no rule.

    Raises:
        ValueError: If there are not two, or one is unknown.
    """
    names = list(scripts) if isinstance(scripts, list | tuple) else [scripts]
    if len(names) == 2:
        lower = [None if name is None else str(name).lower() for name in names]
        one, other = (None if name == "any" else name for name in lower)
        if all(name is None or is_script(name) for name in (one, other)):
            return one, other
    raise ValueError(
        "Expected two scripts in the words of Unicode, such as latin and han, or any. Received: "
        f"{', '.join(map(str, names))}."
    )


def _is_in(text: str, script: str | None) -> bool:
    """Return whether a text is in a script. A Japanese text can be in Han characters alone."""
    own = script_of([text]) if script is not None else None
    return own in (None, script) or (own, script) == ("han", "japanese")

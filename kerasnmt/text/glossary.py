"""Glossaries, which have the translations of source terms."""

import unicodedata
from collections.abc import Mapping, Sequence

from kerasnmt.text.term_lines import OR, joined_lines, term_line
from kerasnmt.text.whole_words import is_boundary


class Glossary:
    """Translations of source terms.

    A glossary applies to each text that contains a source term as whole words: its translation must
    contain the target term. Where source terms overlap, such as "New York" and "York", only the
    longest counts.

    ```python
    glossary = Glossary({"dog": ["chien", "chienne"], "New York": "New York"}, ignore_case=True)
    model.translate(texts, glossary=glossary)
    ```

    Args:
        terms: Dict from source terms to target terms. A target term is a text, or a list of
            alternatives, of which one must occur, such as its inflected forms.
        ignore_case: Whether source terms are found in capital and small letters alike. Terms that
            differ in case alone then have each other's alternatives.

    Raises:
        ValueError: If there is no dict, or a term is empty or has a tab, a line break or "|".
    """

    def __init__(self, terms: Mapping[str, str | Sequence[str]], ignore_case: bool = False) -> None:
        if not isinstance(terms, Mapping):
            raise ValueError(
                "Expected a glossary as a dict from source terms to target terms. Received: "
                f"{terms!r:.80}, of type {type(terms).__name__}."
            )
        self.ignore_case = ignore_case
        alternatives: dict[str, list[str]] = {}
        for source, target in terms.items():
            term_line([source])  # checks the source term
            alternatives.setdefault(self._read(source), []).append(term_line([target]))
        # Several lines of a term are alternatives.
        self._lines = {
            source: OR.join(dict.fromkeys(OR.join(lines).split(OR)))
            for source, lines in alternatives.items()
        }
        self._lengths = {*map(len, self._lines)}

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, text: str) -> str:
        """Return the line of the target terms for a text, in the form of `term_line`."""
        text = self._read(text)
        boundaries = {place for place in range(len(text) + 1) if is_boundary(text, place)}
        occurrences = sorted(
            (-length, start)
            for start in boundaries
            for length in self._lengths
            if start + length in boundaries and text[start : start + length] in self._lines
        )
        taken = bytearray(len(text))
        starts: dict[str, int] = {}
        for length, start in occurrences:  # the longest first
            end = start - length
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * -length
                starts.setdefault(text[start:end], start)
        in_order = sorted(starts, key=lambda source: starts[source])
        return joined_lines(*(self._lines[source] for source in in_order))

    def _read(self, text: str) -> str:
        text = unicodedata.normalize("NFC", " ".join(text.split()))
        return text.casefold() if self.ignore_case else text

"""Glossaries, which have the translations of source terms."""

import unicodedata
from collections.abc import Mapping, Sequence

from kerasnmt.text.term_lines import joined_lines, term_line
from kerasnmt.text.whole_words import places


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
        ignore_case: Whether source terms are found in capital and small letters alike.

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
        self._lines: dict[str, str] = {}
        for source, target in terms.items():
            term_line([source])  # checks the source term
            line, read = term_line([target]), self._read(source)
            if self._lines.setdefault(read, line) != line:
                raise ValueError(
                    "Expected each source term once, with its alternatives. Received: "
                    f"{source!r:.80} with several translations."
                )

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, text: str) -> str:
        """Return the line of the target terms for a text, in the form of `term_line`."""
        text = left = self._read(text)
        found: dict[str, int] = {}
        for source in sorted(self._lines, key=len, reverse=True):
            for place in [*places(source, left)]:
                left = f"{left[:place]}{chr(0) * len(source)}{left[place + len(source) :]}"
                found.setdefault(source, place)
        in_order = sorted(found, key=lambda source: found[source])
        return joined_lines(*(self._lines[source] for source in in_order))

    def _read(self, text: str) -> str:
        text = unicodedata.normalize("NFC", " ".join(text.split()))
        return text.casefold() if self.ignore_case else text

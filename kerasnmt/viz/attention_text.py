"""Attention of one translation as text."""

import shutil
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from kerasnmt.viz.directions import is_right_to_left

_SHADES = (" ", "░", "▒", "▓", "█")
_JOINERS = "\u200c\u200d"  # they belong to the spelling of words in Persian and Indian languages
_NO_WIDTH = ("Mn", "Me", "Cf")
_LEAST = (0.05, 0.25, 0.5, 0.75)  # smallest weight of each shade except the first
_GAP = "  "
_MARK = "\u200e"  # LEFT-TO-RIGHT MARK: terminals do not reorder what is on both sides of it


def attention_text(
    weights: np.ndarray,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    generate_probability: Sequence[float] | np.ndarray | None = None,
    width: int | None = None,
) -> str:
    """Draw attention weights as text, with one row per target token.

    There is one column per source token. The shade of a cell shows its weight: blank below 0.05, ░
    from 0.05, ▒ from 0.25, ▓ from 0.5 and █ from 0.75. A table that is wider than the terminal
    continues below. If the source is written from right to left, its columns are as well.

    ```text
            two  dogs  run   .  </s>
    zwei    ███
    Hunde        ▓▓▓▓  ░░░
    laufen             ███
    .                        █
    </s>                        ████
    ```

    Args:
        weights: Attention weights, float `[target_length, source_length]`.
        source_tokens: Labels of the columns.
        target_tokens: Labels of the rows.
        generate_probability: Probability p_gen of each target token for a pointer-generator, float
            `[target_length]`, or None. It is the last column.
        width: Number of characters in a line, or None for the width of the terminal.

    Returns:
        The lines, joined by line breaks.
    """
    width = width or shutil.get_terminal_size().columns
    columns, cells = [*map(_shown, source_tokens)], np.asarray(weights)
    if is_right_to_left(source_tokens):
        columns, cells = columns[::-1], cells[:, ::-1]
    if generate_probability is not None:
        columns = [*columns, "p_gen"]
        cells = np.concatenate([cells, np.asarray(generate_probability)[:, None]], axis=1)
    shades = np.searchsorted(_LEAST, cells, side="right")
    names = _aligned(["", *map(_shown, target_tokens)])
    gap = _GAP
    if any(map(is_right_to_left, [[token] for token in (*source_tokens, *target_tokens)])):
        names, gap = [f"{_MARK}{name}{_MARK}" for name in names], _GAP + _MARK
    tables = []
    for some in _pages(columns, width - _width(names[0])):
        widths = [*map(_width, columns[some])]
        rows = [columns[some]]
        for row in shades[:, some]:
            rows.append([_SHADES[one] * width for one, width in zip(row, widths, strict=True)])
        lines = (
            gap.join([name, *row]).rstrip(f" {_MARK}")
            for name, row in zip(names, rows, strict=True)
        )
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _pages(columns: Sequence[str], width: int) -> Iterator[slice]:
    """Yield the columns that fit into each line, at least one column per line."""
    start, taken = 0, 0
    for index, column in enumerate(columns):
        needed = len(_GAP) + _width(column)
        if index > start and taken + needed > width:
            yield slice(start, index)
            start, taken = index, 0
        taken += needed
    yield slice(start, len(columns))


def _shown(token: str) -> str:
    """Return a token without characters that break a line, with a width of at least 1."""
    return "".join(one if one.isprintable() or one in _JOINERS else "�" for one in token) or " "


def _aligned(names: Sequence[str]) -> list[str]:
    """Pad names on the right to the same width."""
    widest = max(map(_width, names))
    return [name + " " * (widest - _width(name)) for name in names]


def _width(text: str) -> int:
    """Return the number of columns that a text takes in a terminal."""
    return sum(
        0
        if unicodedata.category(one) in _NO_WIDTH
        else 2
        if unicodedata.east_asian_width(one) in "WF"
        else 1
        for one in text
    )

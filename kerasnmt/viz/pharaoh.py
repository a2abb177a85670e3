"""Word alignments in the Pharaoh format: `0-0 1-2`, a source and a target word by position."""

import re
from collections.abc import Iterable

_ITEM = re.compile(r"([0-9]+)([-p])([0-9]+)")

Link = tuple[int, int]


def format_pharaoh(links: Iterable[Link]) -> str:
    """Writes links in the Pharaoh format.

    Args:
        links: Pairs of 0-based positions, (source word, target word).

    Returns:
        One line, sorted by source, then target: `"0-0 1-2"`.
    """
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def parse_pharaoh(line: str) -> tuple[list[Link], list[Link]]:
    """Reads a line in the Pharaoh format.

    Args:
        line: Items `i-j` for sure links, `ipj` for links that are only possible.

    Returns:
        The sure links and those only possible, 0-based (source word, target word), in the order
        of the line.

    Raises:
        ValueError: If an item is written in another way.
    """
    sure, possible = [], []
    for item in line.split():
        match = _ITEM.fullmatch(item)
        if not match:
            raise ValueError(
                f"parse_pharaoh expects items such as '0-0' (sure) or '0p0' (possible), "
                f"source before target. Received: item={item!r}"
            )
        source, kind, target = match.groups()
        (sure if kind == "-" else possible).append((int(source), int(target)))
    return sure, possible


def parse_pharaoh_lines(lines: Iterable[str], name: str) -> list[tuple[list[Link], list[Link]]]:
    """Reads the lines of a file in the Pharaoh format.

    Args:
        lines: One a sentence pair, see `parse_pharaoh`.
        name: Of the file, for errors.

    Returns:
        For each line its sure links and those only possible.

    Raises:
        ValueError: If a line is written in another way; its number is given, counted from 1.
    """
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(parse_pharaoh(line))
        except ValueError as error:
            raise ValueError(f"{name}, line {number}: {error}") from error
    return parsed

"""Word alignments in the Pharaoh format, such as `0-0 1-2`."""

import re
from collections.abc import Iterable

_ITEM = re.compile(r"([0-9]+)([-p])([0-9]+)")

Link = tuple[int, int]


def format_pharaoh(links: Iterable[Link]) -> str:
    """Write links in the Pharaoh format.

    Args:
        links: Pairs of positions (source word, target word), counted from 0.

    Returns:
        One line, such as `"0-0 1-2"`, sorted by source and target.
    """
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def parse_pharaoh(line: str) -> tuple[list[Link], list[Link]]:
    """Read a line in the Pharaoh format.

    Args:
        line: Items `i-j` for sure links and `ipj` for possible links.

    Returns:
        The sure links and the possible links (source word, target word), counted from 0, in the
        order of the line.

    Raises:
        ValueError: If an item has another form.
    """
    sure: list[Link] = []
    possible: list[Link] = []
    for item in line.split():
        match = _ITEM.fullmatch(item)
        if not match:
            raise ValueError(
                "Expected items such as '0-0' (sure) or '0p0' (possible), source before target. "
                f"Received: item={item!r}"
            )
        source, kind, target = match.groups()
        (sure if kind == "-" else possible).append((int(source), int(target)))
    return sure, possible


def parse_pharaoh_lines(lines: Iterable[str], name: str) -> list[tuple[list[Link], list[Link]]]:
    """Read the lines of a file in the Pharaoh format.

    Args:
        lines: Lines of the file, one for each sentence pair; see `parse_pharaoh`.
        name: Name of the file, used in error messages.

    Returns:
        The sure links and the possible links of each line.

    Raises:
        ValueError: If a line has another form. The error names the line, counted from 1.
    """
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(parse_pharaoh(line))
        except ValueError as error:
            raise ValueError(f"{name}, line {number}: {error}") from error
    return parsed

"""Where the verbs print."""

from collections.abc import Sequence

from rich.console import Console


def progress_console() -> Console:
    """Makes the console of progress and messages, on standard error."""
    return Console(stderr=True)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows of cells to standard output, the columns aligned, no cell ever cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())

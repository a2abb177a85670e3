"""Where the verbs print."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import Progress


def progress_console() -> Console:
    """Makes the console of progress and messages, on standard error."""
    return Console(stderr=True)


def translate_chunks(
    translator: Any, texts: Sequence[str], batch_size: int, console: Console
) -> list[str]:
    """Translates texts with a bar of progress, where the console is a terminal."""
    size = 16 * batch_size
    translations: list[str] = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("translating", total=len(texts))
        for start in range(0, len(texts), size):
            chunk = texts[start : start + size]
            translations += [
                translation
                for translation, _ in translator.best(
                    chunk, batch_size=batch_size, first_number=start + 1
                )
            ]
            progress.update(task, completed=start + len(chunk))
    return translations


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows of cells to standard output, the columns aligned, no cell ever cut."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())

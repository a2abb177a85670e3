"""Output of the commands."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from kerasnmt.progress_lines import progress_bar
from kerasnmt.progress_lines import say as say


def progress_console() -> Console:
    """Return the console for progress and messages, on standard error.

    On a terminal it has a separate file descriptor, so that it is updated while `without_talk`
    hides standard error.
    """
    if sys.stderr.isatty():
        return Console(file=os.fdopen(os.dup(sys.stderr.fileno()), "w", errors="replace"))
    return Console(stderr=True)


def in_chunks(
    console: Console, what: str, batch_size: int, *columns: Sequence[Any] | None
) -> Iterator[list[Any]]:
    """Yield some columns, 16 batches at a time, with a progress bar. None stays None."""
    size, total = 16 * batch_size, len(columns[0] or ())
    with progress_bar(console, what, total) as advance:
        for start in range(0, total, size):
            yield [column and column[start : start + size] for column in columns]
            advance(min(size, total - start))


def translate_chunks(
    translator: Any,
    texts: Sequence[str],
    contexts: Sequence[str] | None,
    batch_size: int,
    console: Console,
) -> list[str]:
    """Translate texts with a progress bar."""
    done: list[str] = []
    for chunk, some in in_chunks(console, "translating", batch_size, texts, contexts):
        options = {"batch_size": batch_size, "first_number": len(done) + 1}
        done += [answer for answer, _ in translator.best(chunk, contexts=some, **options)]
    return done


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells to standard output, in aligned columns, without truncation."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def command(program: str, *arguments: str | os.PathLike) -> str:
    """Return a command for a shell.

    A program of this Python environment is given by its path if the shell does not find it by its
    name, for example in an environment that is not activated.

    Args:
        program: Name of a program.
        *arguments: Arguments of the program, which are quoted if necessary.
    """
    beside = Path(sys.executable).with_name(program)
    in_shell = shutil.which(program)
    if beside.exists() and not (in_shell and os.path.samefile(in_shell, beside)):
        program = min(str(beside), os.path.relpath(beside), key=len)
    return shlex.join([program, *map(str, arguments)])


def print_commands(heading: str, *commands: str) -> None:
    """Print commands to standard output, one per line, to be copied to a shell."""
    print(f"\n{heading}\n")
    for line in commands:
        print(f"  {line}")

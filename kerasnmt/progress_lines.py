"""Lines on a console: messages, and progress if it is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from rich.console import Console
from rich.progress import Progress

# Seconds between two lines.
_BETWEEN = 30.0


def say(console: Console, message: str) -> None:
    """Print a message unchanged, on one line."""
    console.print(message, highlight=False, markup=False, soft_wrap=True)


class ProgressLines:
    """Progress of work in lines, at most one every 30 seconds, unless the console is a terminal.

    A line has the share that is done, and the time that the rest takes at the speed so far.

    Args:
        console: Console of Rich.
        what: Name of the work.
        total: Number of steps of the whole work.
        done: Number of steps that were done before.
    """

    def __init__(self, console: Console, what: str, total: int, done: int = 0) -> None:
        self.console = console
        self.what = what
        self.total = total
        self.first = done
        self.start = self.last = monotonic()

    def update(self, done: int, state: str = "") -> None:
        """Print a line if 30 seconds have passed since the last one.

        Args:
            done: Number of steps that are done, including those that were done before.
            state: Text at the end of the line.
        """
        now = monotonic()
        if self.console.is_terminal or now - self.last < _BETWEEN or done <= self.first:
            return
        self.last = now
        left = (now - self.start) / (done - self.first) * max(self.total - done, 0)
        parts = [
            self.what,
            f"{done:,}/{self.total:,}",
            f"{done / max(self.total, 1):.0%}",
            f"{timedelta(seconds=round(left))} left",
            state,
        ]
        self.console.print("  ".join(filter(None, parts)), highlight=False, soft_wrap=True)


@contextmanager
def progress_bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar, or lines if this is no terminal, and yield a function that advances it."""
    lines, done = ProgressLines(console, what, total), 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress.advance(task, more)
        lines.update(done)

    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield advance

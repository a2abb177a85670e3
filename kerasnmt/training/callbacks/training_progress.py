"""Progress of training on a terminal."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Self

import keras
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from kerasnmt.progress_lines import ProgressLines, progress_bar

# The first batch takes long, because TensorFlow traces the step, or JAX compiles it.
_FIRST_BATCH = "preparing the first batch"


class TrainingProgress(keras.callbacks.Callback):
    """Callback that shows a progress bar for each epoch, and prints a line when it is finished.

    If the console is not a terminal, it prints only these lines, and every 30 seconds a line with
    the progress of the epoch. Use the callback as a context manager around `fit`, so that it also
    restores the terminal after an error. List it after the callbacks that add to the logs.

    Args:
        console: Console to print to.
        epochs: Total number of epochs.
        batches_per_epoch: Number of batches of a whole epoch. After an interruption, `fit` may get
            only the rest of them. None if `fit` gets all batches of each epoch.
    """

    _SHOWN = (
        "loss",
        "perplexity",
        "val_loss",
        "val_perplexity",
        "val_bleu",
        "val_chrf",
        "val_exact",
    )

    def __init__(self, console: Console, epochs: int, batches_per_epoch: int | None = None) -> None:
        super().__init__()
        self.console = console
        self.epochs = epochs
        self.batches_per_epoch = batches_per_epoch
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            _Count(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("training", total=None, state=_FIRST_BATCH)
        self._has_trained = False
        self._done = 0
        self._lines = ProgressLines(console, "", 0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Restart the bar, where training continues."""
        steps = self.params["steps"]
        total = self.batches_per_epoch or steps
        self._done = total - (steps or total) if total else 0
        what = f"epoch {epoch + 1}/{self.epochs}"
        self._lines = ProgressLines(self.console, what, total or 0, self._done)
        self._progress.reset(
            self._task,
            total=total,
            completed=self._done,
            description=what,
            state="" if self._has_trained else _FIRST_BATCH,
        )

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Move the bar."""
        self._has_trained = True
        state = f"loss {logs['loss']:.3f}" if logs else ""
        done = self._done + batch + 1
        self._progress.update(self._task, completed=done, state=state)
        self._lines.update(done, state)

    def on_test_begin(self, logs: dict | None = None) -> None:
        """Show that the training steps are done."""
        self._progress.update(self._task, state="validation")

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Print the line of the epoch."""
        logs = logs or {}
        parts = [f"{name} {logs[name]:.4g}" for name in self._SHOWN if name in logs]
        if "target_tokens_per_second" in logs:
            parts.append(f"{logs['target_tokens_per_second']:,.0f} tokens/s")
        self.console.print(
            f"epoch {epoch + 1}/{self.epochs}  {'  '.join(parts)}",
            highlight=False,
            soft_wrap=True,
        )


class _Count(MofNCompleteColumn):
    """Count of steps, which is empty until the number of steps is known."""

    def render(self, task: Task) -> Text:
        return Text() if task.total is None else super().render(task)


def counting(console: Console, what: str, items: Iterable, total: int) -> Iterator:
    """Yield batches, with a message and, on a terminal, a progress bar of their rows.

    Args:
        console: Console to print to.
        what: Message.
        items: Batches `(inputs, targets, sample_weight)`.
        total: Number of rows of all batches.
    """
    if not console.is_terminal:
        console.print(what, highlight=False)
    with progress_bar(console, what, total) as advance:
        for batch in items:
            yield batch
            advance(len(batch[1]))


def working(console: Console, what: str) -> AbstractContextManager:
    """Show a message during a `with` block, on a terminal with a moving symbol."""
    if console.is_terminal:
        return console.status(what)
    console.print(what, highlight=False)
    return nullcontext()

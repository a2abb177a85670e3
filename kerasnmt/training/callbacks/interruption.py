"""Callback that writes a checkpoint before a signal ends training."""

import signal
import threading
from types import FrameType
from typing import Any, ClassVar, Self

import keras

from kerasnmt.training.callbacks.checkpoint import Checkpoint


class Terminated(KeyboardInterrupt):
    """Error at SIGTERM during training, like `KeyboardInterrupt` at SIGINT."""


class Interruption(keras.callbacks.Callback):
    """Callback that writes a checkpoint before SIGINT or SIGTERM ends training.

    The current batch finishes first. After the last batch of an epoch, validation finishes too,
    because the checkpoint of the epoch follows it. A second signal ends training immediately; then
    it resumes from the latest checkpoint.

    Use the callback as a context manager around `fit`. It works only in the main thread, because
    other threads receive no signals. A signal that is ignored stays ignored.

    If several processes train together, only the first one ends training. The others ignore the
    first signal, because they would stop at a different batch. They end when the first process has
    ended.

    Args:
        checkpoint: A callback of the same `fit`, which is listed before this one.

    Raises:
        KeyboardInterrupt: From `fit`, at SIGINT.
        Terminated: From `fit`, at SIGTERM.
    """

    _ERRORS: ClassVar = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self._is_first = checkpoint.processes.is_first
        self._in_epoch = False
        self._error: type[KeyboardInterrupt] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._in_epoch, self._error = False, None
        if threading.current_thread() is threading.main_thread():
            for number in self._ERRORS:
                # None stands for a handler that Python has not set and cannot restore.
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Defer signals."""
        self._in_epoch = True

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Write a checkpoint and end training if there was a signal."""
        if self._error and self._is_first and not self.checkpoint.is_last_batch:
            self.checkpoint.save()
            raise self._error

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """End training if there was a signal. `Checkpoint` has written a checkpoint."""
        self._in_epoch = False
        if self._error and self._is_first:
            raise self._error

    def _handle(self, number: int, frame: FrameType | None) -> None:
        error = self._ERRORS[signal.Signals(number)]
        if not self._in_epoch or self._error:
            raise error
        self._error = error

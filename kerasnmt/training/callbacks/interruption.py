"""A training that ends at a signal, after a checkpoint."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self

import keras

from kerasnmt.training.callbacks.checkpoint import Checkpoint


class Terminated(KeyboardInterrupt):
    """Raised in a training at SIGTERM, as `KeyboardInterrupt` is at SIGINT."""


class Interruption(keras.callbacks.Callback):
    """Writes a checkpoint before SIGINT or SIGTERM ends a training.

    The current batch finishes first. After the last batch of an epoch the validation finishes too,
    since the epoch's checkpoint follows it. A second signal ends the training at once; it resumes
    from its latest checkpoint. Use the callback as a context manager around `fit`. Only the main
    thread receives signals; in other threads the callback does nothing. An ignored signal stays
    ignored.

    Args:
        checkpoint: A callback of the same `fit`, before this one.

    Raises:
        KeyboardInterrupt: From `fit`, at SIGINT.
        Terminated: From `fit`, at SIGTERM.
    """

    _ERRORS: ClassVar = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self._in_epoch = False
        self._error: type[KeyboardInterrupt] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._in_epoch, self._error = False, None
        if threading.current_thread() is threading.main_thread():
            for number in self._ERRORS:
                # None is a handler that Python did not set, and cannot set again.
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Defer signals."""
        self._in_epoch = True

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """After a signal, write a checkpoint and end the training."""
        if self._error and not self.checkpoint.is_last_batch:
            self.checkpoint.save()
            raise self._error

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """After a signal, end the training: the epoch has its checkpoint."""
        self._in_epoch = False
        if self._error:
            raise self._error

    def _handle(self, number: int, frame: FrameType | None) -> None:
        error = self._ERRORS[signal.Signals(number)]
        if not self._in_epoch or self._error:
            raise error
        self._error = error

"""A training that is asked to stop."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self

import keras

from kerasnmt.training.checkpoint import Checkpoint
from kerasnmt.training.terminated import Terminated


class Interruption(keras.callbacks.Callback):
    """Writes a checkpoint before SIGINT or SIGTERM ends a training.

    The current batch finishes first; after the last batch of an epoch the validation does, since
    the epoch's checkpoint follows it. At a second signal the training ends at once, and goes on
    from its latest checkpoint. Use it as a context manager around `fit`. Outside the main thread,
    which alone receives signals, it does nothing. An ignored signal stays ignored.

    Args:
        checkpoint: a callback of the same `fit`, before this one.

    Raises:
        KeyboardInterrupt: from `fit`, at SIGINT.
        Terminated: from `fit`, at SIGTERM.
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
        """Write a checkpoint and end the training, if a signal came."""
        if self._error and not self.checkpoint.is_last_batch:
            self.checkpoint.save()
            raise self._error

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """End the training, if a signal came: the epoch has its checkpoint."""
        self._in_epoch = False
        if self._error:
            raise self._error

    def _handle(self, number: int, frame: FrameType | None) -> None:
        error = self._ERRORS[signal.Signals(number)]
        if not self._in_epoch or self._error:
            raise error
        self._error = error

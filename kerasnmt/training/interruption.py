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

    The batch that runs is finished first. Outside of batches, and at a second signal, the training
    ends at once and goes on from its latest checkpoint. Used as a context manager around `fit`; in
    another thread than the main one, which gets no signals, it does nothing.

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
        self._in_batch = False
        self._error: type[KeyboardInterrupt] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self._ERRORS:
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

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """From here on a signal waits."""
        self._in_batch = True

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Write a checkpoint and end the training, if a signal came."""
        self._in_batch = False
        if self._error:
            self.checkpoint.save()
            raise self._error

    def _handle(self, number: int, frame: FrameType | None) -> None:
        error = self._ERRORS[signal.Signals(number)]
        if not self._in_batch or self._error:
            raise error
        self._error = error

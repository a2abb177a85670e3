"""The learning curve on disk."""

import json
import math
import os
import time
from pathlib import Path

import keras

from kerasnmt.atomic_write import atomic_write


class EpochHistory(keras.callbacks.Callback):
    """Keeps the logs of all epochs in a file of JSON lines, across interruptions.

    Each line is one object: `epoch`, counted from 1; `seconds` and `cpu_seconds` of training at the
    end of the epoch, from the start of the first one, validation included, leaving out what an
    interruption lost; and whatever the logs hold. A number that is not finite is written null.

    Args:
        path: the file.
        initial_epoch: the number of epochs to keep of an earlier history in the file.
    """

    def __init__(self, path: str | os.PathLike, *, initial_epoch: int = 0) -> None:
        super().__init__()
        self.path = Path(path)
        self.records: list[dict] = []
        if initial_epoch:
            lines = self.path.read_text(encoding="utf-8").splitlines()
            self.records = [json.loads(line) for line in lines[:initial_epoch]]

    @property
    def seconds(self) -> float:
        """The seconds of training so far."""
        return self.records[-1]["seconds"] if self.records else 0.0

    @property
    def cpu_seconds(self) -> float:
        """The seconds of processor time so far, over all threads."""
        return self.records[-1]["cpu_seconds"] if self.records else 0.0

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Start the clocks where they stood."""
        self._start = time.perf_counter() - self.seconds
        self._cpu_start = time.process_time() - self.cpu_seconds

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the epoch and write the file."""
        record = {
            "epoch": epoch + 1,
            "seconds": round(time.perf_counter() - self._start, 3),
            "cpu_seconds": round(time.process_time() - self._cpu_start, 3),
        }
        for name, value in (logs or {}).items():
            record[name] = float(value) if math.isfinite(value) else None
        self.records.append(record)
        with atomic_write(self.path) as path:
            lines = (json.dumps(record) + "\n" for record in self.records)
            path.write_text("".join(lines), encoding="utf-8")

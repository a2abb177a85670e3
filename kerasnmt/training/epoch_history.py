"""The learning curve on disk."""

import json
import math
import os
from pathlib import Path

import keras

from kerasnmt.atomic_write import atomic_write
from kerasnmt.training.training_clock import TrainingClock


class EpochHistory(keras.callbacks.Callback):
    """Keeps the logs of all epochs in a file of JSON lines, across interruptions.

    Each line is one object: `epoch`, counted from 1; `seconds` and `cpu_seconds` of training at the
    end of the epoch, from the start of the first one, validation included, leaving out what an
    interruption lost; and whatever the logs hold. A number that is not finite is written null.

    Args:
        path: the file.
        initial_epoch: the number of epochs to keep of an earlier history in the file.
        clock: the time of the training; None for one that goes on where the earlier history ends.

    Raises:
        ValueError: the earlier history has fewer epochs, or is damaged.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        *,
        initial_epoch: int = 0,
        clock: TrainingClock | None = None,
    ) -> None:
        super().__init__()
        self.path = Path(path)
        self.records: list[dict] = []
        if initial_epoch:
            lines = self.path.read_text(encoding="utf-8").splitlines()
            if len(lines) < initial_epoch:
                raise ValueError(
                    f"Expected a history of at least {initial_epoch} epochs. Received: "
                    f"{self.path}, with {len(lines)}. Begin another run."
                )
            try:
                self.records = [json.loads(line) for line in lines[:initial_epoch]]
            except ValueError as error:
                raise ValueError(f"{self.path}: the file is damaged: {error}") from error
        self.clock = clock or TrainingClock()
        if clock is None:
            self.clock.set(self.seconds, self.cpu_seconds)

    @property
    def seconds(self) -> float:
        """The seconds of training so far, at the end of the latest epoch."""
        return self.records[-1]["seconds"] if self.records else 0.0

    @property
    def cpu_seconds(self) -> float:
        """The seconds of processor time so far, over all threads, likewise."""
        return self.records[-1]["cpu_seconds"] if self.records else 0.0

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Start the clock."""
        self.clock.start()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the epoch and write the file."""
        record = {
            "epoch": epoch + 1,
            "seconds": round(self.clock.seconds, 3),
            "cpu_seconds": round(self.clock.cpu_seconds, 3),
        }
        for name, value in (logs or {}).items():
            record[name] = float(value) if math.isfinite(value) else None
        self.records.append(record)
        with atomic_write(self.path) as path:
            lines = (json.dumps(record) + "\n" for record in self.records)
            path.write_text("".join(lines), encoding="utf-8")

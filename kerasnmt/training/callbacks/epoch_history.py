"""Learning curve on disk, and the time of training."""

import json
import math
import os
import time
from pathlib import Path

import keras

from kerasnmt.atomic_write import atomic_write


class TrainingClock:
    """Clock of training, which does not count the time that interruptions have lost."""

    def __init__(self) -> None:
        self._earlier = 0.0, 0.0
        self._begin: tuple[float, float] | None = None

    def set(self, seconds: float, cpu_seconds: float) -> None:
        """Continue from another time, such as the time of an interrupted run."""
        self._earlier = seconds, cpu_seconds
        self._begin = self._begin and (time.perf_counter(), time.process_time())

    def start(self) -> None:
        """Start the clock, unless it is running."""
        if self._begin is None:
            self._begin = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Wall time so far, in seconds."""
        return self._earlier[0] + (time.perf_counter() - self._begin[0] if self._begin else 0.0)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all threads so far, in seconds."""
        return self._earlier[1] + (time.process_time() - self._begin[1] if self._begin else 0.0)


class EpochHistory(keras.callbacks.Callback):
    """Callback that writes the logs of all epochs to a file of JSON lines.

    Each line is one object with the logs and these keys: `epoch`, counted from 1, and `seconds` and
    `cpu_seconds` from the start of training to the end of the epoch. The time includes validation,
    but not time lost in interruptions. A number that is not finite becomes null. Resumed training
    continues the file.

    Args:
        path: Path of the file.
        initial_epoch: Number of epochs to keep of an earlier history in the file.
        clock: Clock of the run, or None for a clock that continues from the end of the earlier
            history.

    Raises:
        ValueError: If the earlier history has fewer epochs, or is damaged.
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
                    f"{self.path}, with {len(lines)}. Start another run."
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
        """Seconds of training at the end of the latest epoch."""
        return self.records[-1]["seconds"] if self.records else 0.0

    @property
    def cpu_seconds(self) -> float:
        """Seconds of CPU time of all threads at the end of the latest epoch."""
        return self.records[-1]["cpu_seconds"] if self.records else 0.0

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Start the clock."""
        self.clock.start()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the epoch, and write the file."""
        record: dict[str, float | None] = {
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

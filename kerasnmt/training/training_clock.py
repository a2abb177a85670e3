"""How long a training took so far."""

import time


class TrainingClock:
    """Counts the seconds of a training, over interruptions: what they lost is left out."""

    def __init__(self) -> None:
        self._earlier = 0.0, 0.0
        self._begin = None

    def set(self, seconds: float, cpu_seconds: float) -> None:
        """Go on from another time, as that of a training that was interrupted."""
        self._earlier = seconds, cpu_seconds
        self._begin = self._begin and (time.perf_counter(), time.process_time())

    def start(self) -> None:
        """Start to count, if it does not yet."""
        if self._begin is None:
            self._begin = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Wall time so far."""
        return self._earlier[0] + (time.perf_counter() - self._begin[0] if self._begin else 0.0)

    @property
    def cpu_seconds(self) -> float:
        """Processor time so far, over all threads."""
        return self._earlier[1] + (time.process_time() - self._begin[1] if self._begin else 0.0)

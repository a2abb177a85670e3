"""Logs that are equal in all processes."""

import keras

from kerasnmt.training.processes import Processes


class SharedLogs(keras.callbacks.Callback):
    """Callback that gives all processes the logs of the first process after each epoch.

    Only the first process scores translations. Callbacks after this one, such as early stopping,
    see the scores in all processes.

    Args:
        processes: The processes of the training run.
    """

    def __init__(self, processes: Processes) -> None:
        super().__init__()
        self.processes = processes

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Replace the logs, while the other processes wait for the first one."""
        own = logs if logs is not None else {}
        shared = self.processes.share(lambda: {name: float(value) for name, value in own.items()})
        own.clear()
        own.update(shared)

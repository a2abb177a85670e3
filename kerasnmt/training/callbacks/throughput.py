"""The speed of a training."""

import time

import keras


class Throughput(keras.callbacks.Callback):
    """Adds `target_tokens_per_second` to the logs of each epoch.

    The real target tokens, which the model's `perplexity` counts, are divided by the time of the
    epoch's training steps: with compilation, without validation and the callbacks after it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._start, self._tokens = 0.0, 0.0
        self._rate: float | None = 0.0  # None while the clock runs

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Start the clock."""
        self._start, self._rate, self._tokens = time.perf_counter(), None, 0.0

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """Read the tokens that were counted before, in an epoch that was interrupted."""
        if batch == 0:
            self._tokens = self._counted()

    def on_test_begin(self, logs: dict | None = None) -> None:
        """Stop the clock where validation begins, before Keras resets the metrics for it."""
        self._stop()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the rate to the logs."""
        self._stop()
        if logs is not None:
            logs["target_tokens_per_second"] = self._rate

    def _stop(self) -> None:
        if self._rate is None:
            # Read first: on an accelerator this waits for the steps to end.
            tokens = self._counted() - self._tokens
            self._rate = tokens / (time.perf_counter() - self._start)

    def _counted(self) -> float:
        # A copy is one number, also where several devices hold the variable.
        return float(keras.ops.copy(self.model.perplexity.tokens))

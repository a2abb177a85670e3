"""Speed of training."""

import time

import keras


class Throughput(keras.callbacks.Callback):
    """Callback that adds `target_tokens_per_second` to the logs of each epoch.

    This is the number of real target tokens, which the model's `perplexity` counts, divided by the
    time of the training steps of the epoch. With `sample_weight`, tokens count with their weights.
    With R-Drop, a token counts once, although it passes through the model twice. The time includes
    compilation, but not validation and the callbacks after it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._start, self._tokens = 0.0, 0.0
        self._rate: float | None = 0.0  # None while the clock is running

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Start the clock."""
        self._start, self._rate, self._tokens = time.perf_counter(), None, 0.0

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """Read the number of tokens so far, which is not 0 if an interrupted epoch resumes."""
        if batch == 0:
            self._tokens = self._counted()

    def on_test_begin(self, logs: dict | None = None) -> None:
        """Stop the clock when validation begins, before Keras resets the metrics."""
        self._stop()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the rate to the logs."""
        self._stop()
        if logs is not None:
            logs["target_tokens_per_second"] = self._rate

    def _stop(self) -> None:
        if self._rate is None:
            # Read the tokens first, because this waits for the steps of an accelerator.
            tokens = self._counted() - self._tokens
            self._rate = tokens / (time.perf_counter() - self._start)

    def _counted(self) -> float:
        # A copy is one number, even if the variable is on several devices.
        tokens = float(keras.ops.copy(self.model.perplexity.tokens))
        return tokens / 2 if self.model.r_drop else tokens

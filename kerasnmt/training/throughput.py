"""How fast training goes."""

import time

import keras


class Throughput(keras.callbacks.Callback):
    """Puts `target_tokens_per_second` into the epoch's logs.

    Counts real target tokens, as the model's `perplexity` does anyway, over the time of an epoch's
    training steps: validation and other callbacks are left out, compiling is not.
    """

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Start the clock."""
        self._start, self._rate, self._tokens = time.perf_counter(), None, 0.0

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """See how many tokens were counted before, in an epoch that was interrupted."""
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
        if getattr(self, "_rate", 0.0) is None:
            # Read first: on an accelerator this waits for the steps to end.
            tokens = self._counted() - self._tokens
            self._rate = tokens / (time.perf_counter() - self._start)

    def _counted(self) -> float:
        # A copy is one number also where several devices hold the variable.
        return float(keras.ops.copy(self.model.perplexity.tokens))

"""Callback that ends training if the loss is not finite."""

import math

import keras


class DivergenceCheck(keras.callbacks.Callback):
    """Callback that ends training at the first loss or perplexity that is not finite.

    From then on, the weights are useless. Usual causes are a learning rate that is too high, and
    NaN in the sample weights. The perplexity is infinite if the mean loss of a token exceeds 88.

    List this callback first, so that no other callback gets these logs. After
    `keras.callbacks.TerminateOnNaN`, in contrast, other callbacks finish the epoch and save a model
    with NaN.

    Raises:
        FloatingPointError: From `fit`, in one line with the epoch and the batch.
    """

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Check the means of the epoch so far."""
        self._check(logs, "", f"of batch {batch + 1}")

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Store the number of the epoch."""
        self._epoch = epoch

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Check the means of the validation data."""
        self._check(logs, "val_", "of the validation data")

    def _check(self, logs: dict | None, prefix: str, of: str) -> None:
        for name in ("loss", "perplexity"):
            value = float((logs or {}).get(prefix + name, 0.0))
            if not math.isfinite(value):
                raise FloatingPointError(
                    f"The {name} {of} in epoch {self._epoch + 1} is {value}: training diverges. "
                    "Try a lower learning rate, a warm-up or a lower clip norm, and check the "
                    "sample weights for NaN."
                )

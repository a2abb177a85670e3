"""How sharp the attention is."""

import keras
import numpy as np
import tensorflow as tf


class AttentionStatistics(keras.callbacks.Callback):
    """Puts two numbers about the attention into the epoch's logs, for callbacks after this one.

    With α_ti the weight of source position i for target word t, and t over the real words:

    - `val_attention_entropy`: the mean over t of −Σ_i α_ti ln α_ti, in nats. 0 where each word
      looks at one place, ln n where it looks at n places alike: it falls as attention sharpens.
    - `val_attention_overlap`: the mean over t of Σ_i min(α_ti, Σ_{t' < t} α_t'i), between 0 and 1:
      how much is attended to that was attended to before. The coverage loss of See et al. (2017).

    The reference translations are fed to the model.

    Args:
        batches: a dataset of batches, as `kerasnmt.data.batches` gives, of the validation data;
            `batches.take(10)` of much data.
    """

    def __init__(self, batches: tf.data.Dataset) -> None:
        super().__init__()
        self.batches = batches

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Make the graph."""
        inputs, _, _ = self.batches.element_spec
        self._attend = tf.function(self.model.attend, input_signature=[inputs], autograph=False)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the numbers to the logs."""
        if logs is None:
            return
        words = entropy = overlap = 0.0
        for inputs, targets, _ in self.batches:
            real = targets.numpy() != 0
            weights = self._attend(inputs)["weights"].numpy().astype("float64")
            before = np.cumsum(weights, axis=1) - weights
            logarithms = np.log(np.where(weights > 0, weights, 1.0))
            words += real.sum()
            entropy -= (weights * logarithms).sum(axis=-1)[real].sum()
            overlap += np.minimum(weights, before).sum(axis=-1)[real].sum()
        logs["val_attention_entropy"] = float(entropy / words)
        logs["val_attention_overlap"] = float(overlap / words)

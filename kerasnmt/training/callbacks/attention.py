"""Callbacks that show the attention during training as images and as statistics."""

import os
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.tasks.on_jax import compiled_by_jax
from kerasnmt.training.callbacks.tensorboard_run import TensorBoardRun


class AttentionImages(TensorBoardRun):
    """Callback that draws the attention of the same sentence pairs after each epoch.

    TensorBoard shows the images. Bars below each image show the total attention to each source
    token. For a pointer-generator, a column shows the probability of generating each target token.

    The model reads the reference translations, so the images of all epochs have the same labels.
    Batches contain only ids, so words outside the vocabulary have the label `<unk>`, even if they
    are copied.

    Args:
        log_dir: Log folder of TensorBoard. The images go to its run `attention`.
        batches: Dataset from `kerasnmt.data.batches`, without shuffling, so that the sentences stay
            the same.
        sentences: Number of pairs to draw, from the first batch on.
    """

    def __init__(
        self, log_dir: str | os.PathLike, batches: tf.data.Dataset, *, sentences: int = 4
    ) -> None:
        super().__init__(log_dir, "attention")
        pairs = batches.unbatch().filter(lambda _, targets, __: tf.reduce_any(targets != 0))
        self.inputs, self.targets, _ = next(iter(pairs.padded_batch(sentences)))

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Open the event file, and compile the model's attention."""
        super().on_train_begin(logs)
        self._attend = _compiled_attend(self.model)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the images."""
        from kerasnmt.viz import attention_figure, figure_to_image

        records = {name: np.asarray(record) for name, record in self._attend(self.inputs).items()}
        pairs = zip(self.inputs["source_ids"], self.targets, strict=True)
        with self.writer.as_default(step=epoch):
            for number, (source_ids, target_ids) in enumerate(pairs):
                source = _labels(self.model.source_tokenizer, source_ids)
                target = _labels(self.model.target_tokenizer, target_ids)
                rows = {name: record[number, : len(target)] for name, record in records.items()}
                weights = rows["weights"][:, : len(source)]
                figure = attention_figure(
                    weights,
                    source,
                    target,
                    f"epoch {epoch + 1}",
                    generate_probability=rows.get("generate_probability"),
                    coverage=weights.sum(axis=0),
                )
                tf.summary.image(f"attention/{number + 1}", figure_to_image(figure)[None])
        self.writer.flush()


class AttentionStatistics(keras.callbacks.Callback):
    """Callback that adds two statistics of the attention to the logs of each epoch.

    Callbacks after this one see them. alpha_{t,i} is the attention weight of source position i for
    target word t, without padding:

        val_attention_entropy = mean_t(-sum_i alpha_{t,i} ln(alpha_{t,i}))
        val_attention_overlap = mean_t(sum_i min(alpha_{t,i}, sum_{t' < t} alpha_{t',i}))

    - The entropy is 0 if each word attends to one position, and ln(n) if it attends to n positions
      equally. It falls when the attention becomes sharper.
    - The overlap, between 0 and 1, is the attention to positions that already had attention. It is
      the coverage loss of See, Liu and Manning (2017), "Get to the point".

    The model reads the reference translations.

    Args:
        batches: Dataset from `kerasnmt.data.batches` with validation data, or a part of it, such as
            `batches.take(10)`.
    """

    def __init__(self, batches: tf.data.Dataset) -> None:
        super().__init__()
        self.batches = batches

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Compile the model's attention."""
        inputs, _, _ = self.batches.element_spec
        self._attend = _compiled_attend(self.model, [inputs])

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the statistics to the logs."""
        if logs is None:
            return
        words = entropy = overlap = 0.0
        for inputs, targets, _ in self.batches:
            real = targets.numpy() != 0
            weights = np.asarray(self._attend(inputs)["weights"]).astype("float64")
            before = np.cumsum(weights, axis=1) - weights
            logarithms = np.log(np.where(weights > 0, weights, 1.0))
            words += real.sum()
            entropy -= (weights * logarithms).sum(axis=-1)[real].sum()
            overlap += np.minimum(weights, before).sum(axis=-1)[real].sum()
        logs["val_attention_entropy"] = float(entropy / words)
        logs["val_attention_overlap"] = float(overlap / words)


def _compiled_attend(model: Any, signature: Any = None) -> Callable[[Any], dict[str, Any]]:
    """Compile `model.attend` for the Keras backend. `signature` is used on TensorFlow only."""
    if keras.backend.backend() == "jax":
        return compiled_by_jax(model.attend, model)
    return tf.function(model.attend, input_signature=signature, autograph=False)


def _labels(tokenizer: Any, ids: tf.Tensor) -> list[str]:
    """Return the tokens of ids, int32 `[length]`, without padding."""
    tokens = tokenizer.tokens(tf.boolean_mask(ids, ids != 0))
    return [token.decode("utf-8") for token in tokens.numpy()]

"""Attention heat maps in TensorBoard."""

import os

import keras
import tensorflow as tf

from kerasnmt.viz import attention_figure, figure_to_image


class AttentionImages(keras.callbacks.Callback):
    """Draws the attention of a few fixed sentence pairs after each epoch, for TensorBoard.

    Below each picture stands how much each source token was attended to in all; beside that of a
    pointer-generator, the probability of generating each target token.

    The reference translation is fed to the model, so each epoch's pictures have the same labels.
    Batches hold ids only: words outside the vocabulary are labelled "<unk>", copied ones as well.

    Args:
        log_dir: TensorBoard's folder; the pictures go to a run of their own in it, `attention`.
        batches: a dataset of batches, as `kerasnmt.data.batches` gives; not shuffled, for the
            sentences to stay the same.
        sentences: how many pairs are drawn, the first ones.
    """

    def __init__(
        self, log_dir: str | os.PathLike, batches: tf.data.Dataset, *, sentences: int = 4
    ) -> None:
        super().__init__()
        self.log_dir = os.path.join(log_dir, "attention")
        self.inputs, self.targets, _ = next(iter(batches.unbatch().padded_batch(sentences)))

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Open the event file, and make the graph."""
        self._attend = tf.function(self.model.attend, autograph=False)
        self._writer = tf.summary.create_file_writer(self.log_dir)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the pictures."""
        records = {name: record.numpy() for name, record in self._attend(self.inputs).items()}
        pairs = zip(self.inputs["source_ids"], self.targets, strict=True)
        with self._writer.as_default(step=epoch):
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
        self._writer.flush()

    def on_train_end(self, logs: dict | None = None) -> None:
        """Close the event file."""
        self._writer.close()


def _labels(tokenizer: object, ids: tf.Tensor) -> list[str]:
    """How the ids of a sentence, int32 `[length]`, are written; without padding."""
    tokens = tokenizer.tokens(tf.boolean_mask(ids, ids != 0))
    return [token.decode("utf-8") for token in tokens.numpy()]

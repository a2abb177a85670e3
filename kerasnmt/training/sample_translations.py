"""Translations of a few sentences in TensorBoard."""

import os
import re
from collections.abc import Sequence

import keras
import tensorflow as tf


class SampleTranslations(keras.callbacks.Callback):
    """Translates the same sentences after each epoch, as a table for TensorBoard's text tab.

    The table has a row for each sentence: source, reference, translation. It goes to a run of its
    own in TensorBoard's folder, `translations`.

    Args:
        log_dir: TensorBoard's folder.
        sources: sentences.
        references: their translations.
        every: translate after every so many epochs.
        beam_size: 1 is greedy search.
        **options: of `Seq2Seq.translate`.

    Raises:
        ValueError: the numbers of sources and references differ, or there are none.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike,
        sources: Sequence[str],
        references: Sequence[str],
        *,
        every: int = 1,
        beam_size: int = 1,
        **options,
    ) -> None:
        super().__init__()
        if len(sources) != len(references) or not sources:
            raise ValueError(
                "Expected a reference for each source, and at least one of them. "
                f"Received: {len(sources)} sources and {len(references)} references"
            )
        self.log_dir = os.path.join(log_dir, "translations")
        self.sources = list(sources)
        self.references = list(references)
        self.every = every
        self.options = {"beam_size": beam_size, **options}

    def on_train_begin(self, logs: dict | None = None) -> None:
        """Open the event file."""
        self._writer = tf.summary.create_file_writer(self.log_dir)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Translate, and write the table."""
        if (epoch + 1) % self.every:
            return
        translations = self.model.translate(self.sources, **self.options)
        rows = zip(self.sources, self.references, translations, strict=True)
        table = ["| source | reference | translation |", "| --- | --- | --- |"]
        table += [f"| {' | '.join(map(_as_markdown, row))} |" for row in rows]
        with self._writer.as_default(step=epoch):
            tf.summary.text("translations", "\n".join(table))
        self._writer.flush()

    def on_train_end(self, logs: dict | None = None) -> None:
        """Close the event file."""
        self._writer.close()


def _as_markdown(text: str) -> str:
    """Writes text so that Markdown shows it as it is, in one line and one cell of a table."""
    text = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", text).strip()
    return re.sub(r"[&<>|\\`*_~\[\]]", lambda match: f"&#{ord(match[0])};", text)

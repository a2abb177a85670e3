"""Translations of validation sentences during training: their scores, and a table of some."""

import os
import re
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.training.callbacks.tensorboard_run import TensorBoardRun
from kerasnmt.training.scoring import translation_scores


class _Sentences:
    """Sentences with references, and the options with which a model translates them."""

    def __init__(self, sources: Sequence[str], references: Sequence[str], **options) -> None:
        if len(sources) != len(references) or not sources:
            raise ValueError(
                "Expected a reference for each source, and at least one of them. "
                f"Received: {len(sources)} sources and {len(references)} references"
            )
        self.sources = list(sources)
        self.references = list(references)
        self.options = options

    def translate(self, model: Any) -> list[str]:
        return model.translate(self.sources, **self.options)


class TranslationQuality(keras.callbacks.Callback):
    """Translates validation sentences at the end of epochs, and scores the translations.

    Adds `val_bleu`, `val_chrf` and `val_exact`, see `translation_scores`, to the epoch's logs for
    the callbacks after this one: `keras.callbacks.TensorBoard`, `BestModel`, Keras' own history.

    Args:
        sources: Sentences.
        references: Their translations.
        every: Number of epochs from one translation to the next.
        beam_size: 1 is greedy search, which is much faster and compares epochs as well.
        **options: Options of `Seq2Seq.translate`.

    Raises:
        ValueError: The numbers of sources and references differ, or there are none.
    """

    def __init__(
        self,
        sources: Sequence[str],
        references: Sequence[str],
        *,
        every: int = 1,
        beam_size: int = 1,
        **options,
    ) -> None:
        super().__init__()
        self.every = every
        self.sentences = _Sentences(sources, references, beam_size=beam_size, **options)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the scores to the logs."""
        if (epoch + 1) % self.every or logs is None:
            return
        translations = self.sentences.translate(self.model)
        scores = translation_scores(translations, self.sentences.references)
        logs |= {f"val_{name}": scores[name] for name in ("bleu", "chrf", "exact")}


class SampleTranslations(TensorBoardRun):
    """Translates the same sentences after each epoch, as a table for TensorBoard's text tab.

    The table has a row for each sentence: source, reference, translation. It goes to the run
    `translations` in TensorBoard's folder.

    Args:
        log_dir: TensorBoard's folder.
        sources: Sentences.
        references: Their translations.
        every: Number of epochs from one translation to the next.
        beam_size: 1 is greedy search.
        **options: Options of `Seq2Seq.translate`.

    Raises:
        ValueError: The numbers of sources and references differ, or there are none.
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
        super().__init__(log_dir, "translations")
        self.every = every
        self.sentences = _Sentences(sources, references, beam_size=beam_size, **options)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Translate, and write the table."""
        if (epoch + 1) % self.every:
            return
        sentences = self.sentences
        columns = sentences.sources, sentences.references, sentences.translate(self.model)
        table = ["| source | reference | translation |", "| --- | --- | --- |"]
        for row in zip(*columns, strict=True):
            table.append(f"| {' | '.join(map(_as_markdown, row))} |")
        with self.writer.as_default(step=epoch):
            tf.summary.text("translations", "\n".join(table))
        self.writer.flush()


def _as_markdown(text: str) -> str:
    """Write text so that Markdown shows it unchanged, in one line and one cell of a table."""
    text = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", text).strip()
    return re.sub(r"[&<>|\\`*_~\[\]]", lambda match: f"&#{ord(match[0])};", text)

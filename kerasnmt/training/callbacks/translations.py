"""Callbacks that translate validation sentences during training, to score and to show them."""

import os
import re
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.columns import as_list, as_texts, check_same_index
from kerasnmt.sizes import check_size
from kerasnmt.training.callbacks.tensorboard_run import TensorBoardRun
from kerasnmt.training.scoring import bleu_tokenizer, translation_scores


class _Sentences:
    """Sentences with references, and the options of their translation."""

    def __init__(self, sources: Sequence[str], references: Sequence[str], **options) -> None:
        check_same_index(sources=sources, references=references)
        self.sources = as_texts("sources", sources)
        self.references = as_list("references", references, "texts")
        counts = len(self.sources), len(self.references)
        if counts[0] != counts[1] or not self.sources:
            raise ValueError(
                "Expected a reference for each source, and at least one of them. "
                f"Received: {counts[0]} sources and {counts[1]} references"
            )
        self.options = options

    def translate(self, model: Any) -> list[str]:
        return model.translate(self.sources, **self.options)


class TranslationQuality(keras.callbacks.Callback):
    """Callback that translates validation sentences at the end of epochs, and scores them.

    It adds `val_bleu`, `val_chrf` and `val_exact` to the logs of the epoch; see
    `translation_scores`. Callbacks after this one, such as `keras.callbacks.TensorBoard` and
    `BestModel`, and the history of Keras see them.

    Args:
        sources: Source sentences.
        references: Their translations.
        every: Number of epochs between two translations.
        beam_size: Beam size. The default of 1 is greedy search, which is much faster, and compares
            epochs equally well.
        tokenize: Tokenizer of sacreBLEU for BLEU, or None to choose it from the references, once;
            see `bleu_tokenizer`.
        **options: Options of `Seq2Seq.translate`.

    Raises:
        ValueError: If the numbers of sources and references differ, there are none, `every` is
            below 1, or the tokenizer cannot be used.
    """

    def __init__(
        self,
        sources: Sequence[str],
        references: Sequence[str],
        *,
        every: int = 1,
        beam_size: int = 1,
        tokenize: str | None = None,
        **options,
    ) -> None:
        super().__init__()
        check_size("every", every)
        self.every = every
        self.sentences = _Sentences(sources, references, beam_size=beam_size, **options)
        self.tokenize = bleu_tokenizer(self.sentences.references, tokenize)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the scores to the logs."""
        if (epoch + 1) % self.every or logs is None:
            return
        translations = self.sentences.translate(self.model)
        references = self.sentences.references
        scores = translation_scores(translations, references, tokenize=self.tokenize)
        logs |= {f"val_{name}": scores[name] for name in ("bleu", "chrf", "exact")}


class SampleTranslations(TensorBoardRun):
    """Callback that shows translations of the same sentences in the text tab of TensorBoard.

    The table has a row for each sentence, with source, reference and translation. It goes to the
    run `translations` in TensorBoard's log folder.

    Args:
        log_dir: Log folder of TensorBoard.
        sources: Source sentences.
        references: Their translations.
        every: Number of epochs between two translations.
        beam_size: Beam size. The default of 1 is greedy search.
        **options: Options of `Seq2Seq.translate`.

    Raises:
        ValueError: If the numbers of sources and references differ, there are none, or `every` is
            below 1.
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
        check_size("every", every)
        self.every = every
        self.sentences = _Sentences(sources, references, beam_size=beam_size, **options)

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Translate the sentences, and write the table."""
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
    """Return Markdown that shows a text unchanged, in one line and one cell of a table."""
    text = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", text).strip()
    return re.sub(r"[&<>|\\`*_~\[\]]", lambda match: f"&#{ord(match[0])};", text)

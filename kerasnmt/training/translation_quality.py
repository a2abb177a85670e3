"""BLEU and chrF during training."""

from collections.abc import Sequence

import keras

from kerasnmt.training.scoring import translation_scores


class TranslationQuality(keras.callbacks.Callback):
    """Translates validation sentences at the end of epochs, and scores the translations.

    Puts `val_bleu` and `val_chrf` into the epoch's logs, where callbacks that come after this one
    find them: `keras.callbacks.TensorBoard`, `BestModel`, Keras' own history.

    Args:
        sources: sentences.
        references: their translations.
        every: translate after every so many epochs.
        beam_size: 1 is greedy search, which is much faster, and tells epochs apart as well.
        **options: of `Seq2Seq.translate`.

    Raises:
        ValueError: the numbers of sources and references differ, or there are none.
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
        if len(sources) != len(references) or not sources:
            raise ValueError(
                "Expected a reference for each source, and at least one of them. "
                f"Received: {len(sources)} sources and {len(references)} references"
            )
        self.sources = list(sources)
        self.references = list(references)
        self.every = every
        self.options = {"beam_size": beam_size, **options}

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Add the scores to the logs."""
        if (epoch + 1) % self.every or logs is None:
            return
        scores = translation_scores(
            self.model.translate(self.sources, **self.options), self.references
        )
        logs["val_bleu"], logs["val_chrf"] = scores["bleu"], scores["chrf"]

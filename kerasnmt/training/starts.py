"""Starts of a run: with random weights, from a trained model, or after an interruption."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from kerasnmt.data import Shards
from kerasnmt.models import Seq2Seq, load_model
from kerasnmt.text import Tokenizer
from kerasnmt.training.batches import EpochStatistics
from kerasnmt.training.callbacks.checkpoint import Checkpoint, Place
from kerasnmt.training.callbacks.training_progress import working
from kerasnmt.training.checks import (
    check_preset_model,
    check_preset_tokenizers,
    check_same_config,
    check_same_files,
    check_same_model,
    check_same_recipe,
)
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.scoring import bleu_tokenizer
from kerasnmt.training.tokenizers import (
    load_tokenizers,
    save_tokenizers,
    tokenizers_of,
    train_tokenizers,
)
from kerasnmt.zoo import get_preset


class NewStart:
    """Start of a run with new tokenizers and random weights.

    Args:
        recipe: Recipe of the run.
        run: Folder of the run.
        console: Console that shows the progress.
    """

    def __init__(self, recipe: Recipe, run: RunFolder, console: Console) -> None:
        self.recipe = recipe
        self.run = run
        self.console = console

    def check(self) -> None:
        """Raise a `ValueError` if the run cannot start in its folder."""
        self.run.check_unused()

    def results(self) -> dict[str, Any] | None:
        """Return the results if there is nothing left to train, or None."""
        return None

    def weights(self) -> list[np.ndarray] | None:
        """Return the first weights, or None for random weights."""
        return None

    def check_model(self, model: Seq2Seq) -> None:
        """Raise a `ValueError` if the model cannot have the first weights."""

    def check_data(self, corpora: Corpora) -> None:
        """Raise a `ValueError` if the data has changed."""

    def bleu_tokenizer(self, references: Sequence[str]) -> str:
        """Return the tokenizer for BLEU of the recipe, or one that suits the references."""
        return bleu_tokenizer(references, self.recipe.training.bleu_tokenizer)

    def check_lines(self, corpora: Corpora) -> None:
        """Raise a `ValueError` if a line of this process' shards is malformed."""
        if isinstance(corpora.own, Shards):
            shards = corpora.pairs["train"].files
            with working(self.console, f"checking {len(shards):,} shards"):
                len(corpora.own)  # reads and checks all lines

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers, in the order of the model's constructor."""
        with working(self.console, "training the tokenizers"):
            return train_tokenizers(
                self.recipe.tokenizer, corpora.pairs["train"], corpora.contexts.get("train")
            )

    def statistics(self, readers: int) -> EpochStatistics | None:
        """Return the statistics of an epoch of training with this number of readers, if known."""
        return None

    def write(
        self, corpora: Corpora, tokenizers: dict[str, Tokenizer], statistics: EpochStatistics
    ) -> None:
        """Write the files that are needed to resume the run."""
        save_tokenizers(self.run.tokenizers, tokenizers)
        self.run.write_json(self.run.data, corpora.fingerprints)
        self.run.write_json(self.run.epoch, statistics._asdict())

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Place:
        """Restore the state of the model, and return its place in training."""
        return Place()


class FurtherStart(NewStart):
    """Start of a run with the tokenizers and the best model of another run.

    Args:
        recipe: Recipe of the run.
        run: Folder of the run.
        console: Console that shows the progress.
        earlier: Folder of the other run.
    """

    def __init__(
        self, recipe: Recipe, run: RunFolder, console: Console, earlier: RunFolder
    ) -> None:
        super().__init__(recipe, run, console)
        self.earlier = earlier

    def weights(self) -> list[np.ndarray]:
        """Return the weights of the best model of the other run."""
        self.earlier.check_trained()
        check_same_model(self.earlier, self.recipe)
        return load_model(self.earlier.model, compile=False).get_weights()

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the other run."""
        return load_tokenizers(self.earlier.tokenizers)


class PresetStart(NewStart):
    """Start of a run with the tokenizers and the weights of a preset.

    Args:
        recipe: Recipe of the run.
        run: Folder of the run.
        console: Console that shows the progress.
        preset: A preset; see `kerasnmt.zoo.get_preset`.
    """

    def __init__(
        self, recipe: Recipe, run: RunFolder, console: Console, preset: str | os.PathLike
    ) -> None:
        super().__init__(recipe, run, console)
        self.preset = get_preset(preset)

    def weights(self) -> list[np.ndarray]:
        """Return the weights of the preset."""
        check_preset_model(self.preset, self.recipe)
        model = self.preset.load()
        self._tokenizers = tokenizers_of(model)
        check_preset_tokenizers(self.preset, self._tokenizers, self.recipe)
        return model.get_weights()

    def check_model(self, model: Seq2Seq) -> None:
        """Check that the model has the architecture of the preset."""
        check_same_config(self.preset, model)

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the preset."""
        return self._tokenizers


class ResumedStart(NewStart):
    """Start of a run that was interrupted in the same folder."""

    def check(self) -> None:
        """Raise a `ValueError` if there is no run, or a run with another recipe."""
        self.run.check_resumable()
        check_same_recipe(self.run, self.recipe)

    def results(self) -> dict[str, Any] | None:
        """Return the results of a run that is done."""
        return self.run.final_results(self.recipe.training.epochs)

    def check_data(self, corpora: Corpora) -> None:
        """Raise a `ValueError` if the data has changed."""
        check_same_files(self.run, corpora)

    def bleu_tokenizer(self, references: Sequence[str]) -> str:
        """Return the tokenizer for BLEU of the run, so that the scores of all epochs compare."""
        before = Recipe.load(self.run.recipe).training.bleu_tokenizer
        return bleu_tokenizer(references, before or "13a")  # earlier versions used 13a for all

    def check_lines(self, corpora: Corpora) -> None:
        """Check nothing, because the run has checked the same lines."""

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the run."""
        return load_tokenizers(self.run.tokenizers)

    def statistics(self, readers: int) -> EpochStatistics | None:
        """Return the statistics that the run has stored, because counting may take long."""
        if self.run.epoch.exists():
            stored = EpochStatistics(**self.run.read_json(self.run.epoch))
            if stored.readers == readers:
                return stored
        return None

    def write(
        self, corpora: Corpora, tokenizers: dict[str, Tokenizer], statistics: EpochStatistics
    ) -> None:
        """Write nothing, because the run has the files."""

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Place:
        """Restore the model from the latest checkpoint, and return its place."""
        return checkpoint.restore(model)

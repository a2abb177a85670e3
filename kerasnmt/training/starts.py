"""The ways in which a training begins: anew, from a trained model, or where it was interrupted."""

import os
from typing import Any

import numpy as np
from rich.console import Console

from kerasnmt.models import Seq2Seq, load_model
from kerasnmt.text import Tokenizer
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
from kerasnmt.training.tokenizers import load_tokenizers, save_tokenizers, train_tokenizers
from kerasnmt.zoo import get_preset


class NewStart:
    """The start of a run with new tokenizers and random weights.

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
        """Raise a `ValueError` where the run cannot start in its folder."""
        self.run.check_unused()

    def results(self) -> dict[str, Any] | None:
        """Return the results where nothing is left to train, else None."""
        return None

    def weights(self) -> list[np.ndarray] | None:
        """Return the weights to begin with; None for random ones."""
        return None

    def check_model(self, model: Seq2Seq) -> None:
        """Raise a `ValueError` where the model cannot get the weights to start with."""

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers, in the order of the model's constructor."""
        with working(self.console, "training the tokenizers"):
            return train_tokenizers(
                self.recipe.tokenizer, corpora.pairs["train"], corpora.contexts.get("train")
            )

    def write(self, corpora: Corpora, tokenizers: dict[str, Tokenizer]) -> None:
        """Write what a later resumption needs."""
        save_tokenizers(self.run.tokenizers, tokenizers)
        self.run.write_json(self.run.data, corpora.fingerprints)

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Place:
        """Give the model the state to begin with, and return its place in the training."""
        return Place()


class FurtherStart(NewStart):
    """The start of a run with the tokenizers and the best model of another run.

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
        """Return the weights of the other run's best model."""
        self.earlier.check_trained()
        check_same_model(self.earlier, self.recipe)
        return load_model(self.earlier.model, compile=False).get_weights()

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the other run."""
        return load_tokenizers(self.earlier.tokenizers)


class PresetStart(NewStart):
    """The start of a run with the tokenizers and the weights of a preset.

    Args:
        recipe: Recipe of the run.
        run: Folder of the run.
        console: Console that shows the progress.
        preset: A preset, as `kerasnmt.zoo.get_preset` takes it.
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
        source, target = model.source_tokenizer, model.target_tokenizer
        shared = source is target
        self._tokenizers = {"shared": source} if shared else {"source": source, "target": target}
        check_preset_tokenizers(self.preset, self._tokenizers, self.recipe)
        return model.get_weights()

    def check_model(self, model: Seq2Seq) -> None:
        """Check that the model is that of the preset."""
        check_same_config(self.preset, model)

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the preset."""
        return self._tokenizers


class ResumedStart(NewStart):
    """The start where an earlier training in the same folder was interrupted."""

    def check(self) -> None:
        """Raise a `ValueError` where there is no run, or one with another recipe."""
        self.run.check_resumable()
        check_same_recipe(self.run, self.recipe)

    def results(self) -> dict[str, Any] | None:
        """Return the results of a run that is done."""
        return self.run.final_results(self.recipe.training.epochs)

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the run, if its data have not changed."""
        check_same_files(self.run, corpora)
        return load_tokenizers(self.run.tokenizers)

    def write(self, corpora: Corpora, tokenizers: dict[str, Tokenizer]) -> None:
        """Write nothing: the run has it all."""

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Place:
        """Give the model the state of the latest checkpoint, and return its place."""
        return checkpoint.restore(model)

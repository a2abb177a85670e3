"""Starts of a run: with random weights, from a trained model, or after an interruption."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from rich.console import Console

from kerasnmt.data import Shards
from kerasnmt.models import Seq2Seq, load_model
from kerasnmt.presets import Preset
from kerasnmt.progress_lines import say
from kerasnmt.text import Tokenizer
from kerasnmt.training.batches import EpochStatistics
from kerasnmt.training.callbacks.checkpoint import Checkpoint, Progress
from kerasnmt.training.callbacks.training_progress import working
from kerasnmt.training.checks import (
    check_equal,
    check_same_files,
    check_same_recipe,
    comparable_config,
)
from kerasnmt.training.corpora import Corpora, texts
from kerasnmt.training.dotted import dotted
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.scoring import bleu_tokenizer
from kerasnmt.training.tokenizers import (
    load_tokenizers,
    save_tokenizers,
    tokenizers_of,
    train_tokenizers,
)


class Trained(NamedTuple):
    """Model to start from.

    Attributes:
        name: Name of the model in error messages.
        weights: Its weights.
        tokenizers: Its tokenizers.
        loss: Its loss, or None for cross-entropy.
        config: Values of its config that cannot change.
        keywords: Keywords of the zoo that made it, or None if they are not known.
    """

    name: str
    weights: list[np.ndarray]
    tokenizers: dict[str, Tokenizer]
    loss: str | None
    config: dict[str, Any]
    keywords: dict[str, Any] | None

    @classmethod
    def of(
        cls,
        name: str,
        model: Seq2Seq,
        tokenizers: dict[str, Tokenizer],
        keywords: dict[str, Any] | None,
    ) -> Self:
        """Return the start from a model. An output with entmax has the loss of the same name."""
        normalizer = model.output_normalizer
        loss = None if normalizer == "softmax" else normalizer
        config = comparable_config(model)
        return cls(name, model.get_weights(), tokenizers, loss, config, keywords)


class Readings(NamedTuple):
    """What the first process reads in the data and in the folder of the run, for all processes.

    Attributes:
        chosen: Values of the recipe's `training` for the whole run, where the recipe may have none:
            the tokenizer for BLEU, and the loss.
        tokenizers: Tokenizers, in the order of the model's constructor.
        statistics: Statistics of an epoch of training, or None if they are not known.
    """

    chosen: dict[str, str | None]
    tokenizers: dict[str, Tokenizer]
    statistics: EpochStatistics | None


@dataclass(frozen=True)
class NewStart:
    """Start of a run with new tokenizers and random weights.

    Attributes:
        recipe: Recipe of the run.
        run: Folder of the run.
        console: Console that shows the progress.
    """

    recipe: Recipe
    run: RunFolder
    console: Console

    def check(self) -> dict[str, Any] | None:
        """Check that the run can start in its folder, and return its results if it is done.

        Raises:
            ValueError: If it cannot.
        """
        self.run.check_unused()
        return None

    def trained(self) -> Trained | None:
        """Return the model to start from, or None for new tokenizers and random weights."""
        return None

    def read(self, corpora: Corpora, trained: Trained | None) -> Readings:
        """Return what the first process reads for all processes."""
        return Readings(
            {"bleu_tokenizer": self._bleu_tokenizer(corpora), "loss": self.loss(trained)},
            trained.tokenizers if trained else self.tokenizers(corpora),
            self.statistics(corpora.readers),
        )

    def _bleu_tokenizer(self, corpora: Corpora) -> str:
        _, references = texts(corpora.pairs["validation"])
        with self.recipe.named_in_errors():
            try:
                name = self.bleu_tokenizer(references)
            except ValueError as error:
                raise ValueError(f"training.bleu_tokenizer: {error}") from error
        if name not in ("13a", self.recipe.training.bleu_tokenizer):
            say(self.console, f"BLEU: sacreBLEU's tokenizer {name} suits the validation data")
        return name

    def bleu_tokenizer(self, references: Sequence[str]) -> str:
        """Return the tokenizer for BLEU of the recipe, or one that suits the references."""
        return bleu_tokenizer(references, self.recipe.training.bleu_tokenizer)

    def loss(self, trained: Trained | None) -> str | None:
        """Return the loss of the recipe, or of the model to start from."""
        return self.recipe.training.loss or (trained.loss if trained else None)

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

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Progress:
        """Restore the state of the model, and return the progress of training."""
        return Progress()


class TrainedStart(NewStart):
    """Start of a run with the tokenizers and the weights of a trained model."""

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Progress:
        """Write the first checkpoint, because a resumed run does not read the trained model."""
        return checkpoint.begin(model)


@dataclass(frozen=True)
class FurtherStart(TrainedStart):
    """Start of a run with the tokenizers and the best model of another run.

    Attributes:
        earlier: Folder of the other run.
    """

    earlier: RunFolder

    def trained(self) -> Trained:
        """Return the best model of the other run."""
        self.earlier.check_trained()
        name = f"run to start from, {self.earlier.path}"
        before = Recipe.load(self.earlier.recipe)
        check_equal(name, "model.name", before.model.name, self.recipe.model.name)
        old, new = (dotted(one.model_dump(include={"tokenizer"})) for one in (before, self.recipe))
        for key in old | new:
            check_equal(name, key, old.get(key), new.get(key))
        model = load_model(self.earlier.model, compile=False)
        tokenizers = load_tokenizers(self.earlier.tokenizers)
        return Trained.of(name, model, tokenizers, before.model.keywords)


@dataclass(frozen=True)
class PresetStart(TrainedStart):
    """Start of a run with the tokenizers and the weights of a preset.

    Attributes:
        preset: A preset; see `kerasnmt.zoo.get_preset`.
    """

    preset: Preset

    def trained(self) -> Trained:
        """Return the model of the preset."""
        name = f"preset to start from, {self.preset.folder}"
        check_equal(name, "model.name", self.preset.model_name, self.recipe.model.name)
        model = self.preset.load()
        tokenizers = tokenizers_of(model)
        kinds = {side: one.kind for side, one in tokenizers.items()}
        chosen = {side: one.kind for side, one in self.recipe.tokenizer.chosen.items()}
        check_equal(name, "kinds of tokenizers", kinds, chosen)
        return Trained.of(name, model, tokenizers, self.preset.about.get("model"))


class ResumedStart(NewStart):
    """Start of a run that was interrupted in the same folder."""

    def check(self) -> dict[str, Any] | None:
        """Raise a `ValueError` if there is no run, or a run with another recipe."""
        self.run.check_resumable()
        check_same_recipe(self.run, self.recipe)
        return self.run.final_results(self.recipe.training.epochs)

    def read(self, corpora: Corpora, trained: Trained | None) -> Readings:
        """Raise a `ValueError` if the data has changed; see `NewStart`."""
        check_same_files(self.run, corpora)
        return super().read(corpora, trained)

    def bleu_tokenizer(self, references: Sequence[str]) -> str:
        """Return the tokenizer for BLEU of the run, so that the scores of all epochs compare."""
        before = Recipe.load(self.run.recipe).training.bleu_tokenizer
        return bleu_tokenizer(references, before or "13a")  # earlier versions used 13a for all

    def loss(self, trained: Trained | None) -> str | None:
        """Return the loss of the run."""
        return Recipe.load(self.run.recipe).training.loss

    def check_lines(self, corpora: Corpora) -> None:
        """Check nothing, because the run has checked the same lines."""

    def tokenizers(self, corpora: Corpora) -> dict[str, Tokenizer]:
        """Return the tokenizers of the run."""
        return load_tokenizers(self.run.tokenizers)

    def statistics(self, readers: int) -> EpochStatistics | None:
        """Return the statistics that the run has stored, because counting may take long."""
        if self.run.epoch.exists():
            counts = dict.fromkeys(("pairs", "sentences", "batches"), int)
            document = self.run.read_json(self.run.epoch, **counts, padding_share=float)
            stored = EpochStatistics(**document)
            if stored.readers == readers:
                return stored
        return None

    def write(
        self, corpora: Corpora, tokenizers: dict[str, Tokenizer], statistics: EpochStatistics
    ) -> None:
        """Write nothing, because the run has the files."""

    def restore(self, checkpoint: Checkpoint, model: Seq2Seq) -> Progress:
        """Restore the model from the latest checkpoint, and return its progress."""
        return checkpoint.restore(model)

"""Callbacks for training a recipe."""

from functools import cached_property
from importlib.util import find_spec

import keras

from kerasnmt.training.callbacks.attention import AttentionImages, AttentionStatistics
from kerasnmt.training.callbacks.best_model import BestModel
from kerasnmt.training.callbacks.callback_group import OnOneDevice
from kerasnmt.training.callbacks.checkpoint import Checkpoint
from kerasnmt.training.callbacks.divergence_check import DivergenceCheck
from kerasnmt.training.callbacks.epoch_history import EpochHistory
from kerasnmt.training.callbacks.hyperparameters import Hyperparameters
from kerasnmt.training.callbacks.interruption import Interruption
from kerasnmt.training.callbacks.length_histograms import LengthHistograms
from kerasnmt.training.callbacks.moving_average import MovingAverage
from kerasnmt.training.callbacks.projector import write_projector
from kerasnmt.training.callbacks.replayed import Replayed
from kerasnmt.training.callbacks.shared_logs import SharedLogs
from kerasnmt.training.callbacks.step_scalars import StepScalars
from kerasnmt.training.callbacks.throughput import Throughput
from kerasnmt.training.callbacks.training_progress import TrainingProgress
from kerasnmt.training.callbacks.translations import SampleTranslations, TranslationQuality
from kerasnmt.training.corpora import texts
from kerasnmt.training.prepared import Prepared

# Number of sentences that are translated for TensorBoard after each epoch.
_SAMPLES = 8
# Name in the logs for each value of `training.monitor`, and whether it should rise or fall.
_MONITORED = {
    "bleu": ("val_bleu", "max"),
    "chrf": ("val_chrf", "max"),
    "exact": ("val_exact", "max"),
    "loss": ("val_loss", "min"),
}


class RunCallbacks:
    """Callbacks for training a recipe, in the order in which they must be called.

    Args:
        prepared: Data and model of the run.
        checkpoint: Callback that saves the state of training.
        history: Callback that writes the logs of all epochs.
    """

    def __init__(self, prepared: Prepared, checkpoint: Checkpoint, history: EpochHistory) -> None:
        self.prepared = prepared
        self.checkpoint = checkpoint
        self.history = history
        self.run, self.recipe = prepared.start.run, prepared.recipe
        self.monitor, self.mode = _MONITORED[self.recipe.training.monitor]

    @cached_property
    def quality(self) -> TranslationQuality:
        """Callback that scores the validation data."""
        corpora = self.prepared.batches.corpora
        return TranslationQuality(
            *texts(corpora.pairs["validation"]),
            contexts=corpora.contexts.get("validation"),
            tokenize=self.recipe.training.bleu_tokenizer,
            **self.recipe.search.greedy_options,
        )

    @cached_property
    def best(self) -> BestModel:
        """Callback that keeps the best model."""
        earlier = [*self.history.records]
        if self.run.results.exists():  # of a run that had fewer epochs
            average = self.run.read_json(self.run.results).get("average", {})
            earlier += [average] if average.get("kept") else []
        return BestModel(self.run.model, monitor=self.monitor, earlier=earlier)

    @cached_property
    def reactions(self) -> list[Replayed]:
        """Callbacks that depend on the score of `training.monitor`."""
        training, records = self.recipe.training, self.history.records
        reactions = []
        if training.learning_rate_schedule == "plateau":
            plateau = keras.callbacks.ReduceLROnPlateau(
                self.monitor,
                mode=self.mode,
                factor=training.plateau_factor,
                patience=training.plateau_patience,
                min_delta=0.0,
            )
            reactions.append(Replayed(plateau, records, learning_rate=training.learning_rate))
        if training.early_stopping:
            stopping = keras.callbacks.EarlyStopping(
                self.monitor, mode=self.mode, patience=training.early_stopping
            )
            reactions.append(Replayed(stopping, records))
        return reactions

    @cached_property
    def hyperparameters(self) -> Hyperparameters:
        """Callback that shows the recipe in TensorBoard."""
        sections = {"model", "training", "search"}
        return Hyperparameters(self.run.logs, self.recipe.model_dump(mode="json", include=sections))

    @cached_property
    def progress(self) -> TrainingProgress:
        """Callback that shows the progress on the console, a context manager around `fit`."""
        return TrainingProgress(
            self.prepared.start.console,
            self.recipe.training.epochs,
            self.prepared.statistics.batches,
        )

    @cached_property
    def interruption(self) -> Interruption:
        """Callback that ends training at a signal, a context manager around `fit`."""
        return Interruption(self.checkpoint)

    def all(self) -> list[keras.callbacks.Callback]:
        """Return the callbacks of one or several calls of `fit`."""
        evaluation: list[keras.callbacks.Callback] = []
        descriptions: list[keras.callbacks.Callback] = []
        if self.prepared.processes.is_first:
            evaluation = self._on_one_device(self._evaluation())
            descriptions = [
                LengthHistograms(self.run.logs, self.prepared.statistics.lengths),
                self.hyperparameters,
            ]
        if self.recipe.training.moving_average:
            evaluation = [MovingAverage(evaluation)]
        if self.prepared.processes.count > 1:
            evaluation.append(SharedLogs(self.prepared.processes))
        return [
            DivergenceCheck(),
            Throughput(),
            *evaluation,
            *self.reactions,
            keras.callbacks.TensorBoard(self.run.logs, write_graph=False),
            StepScalars(self.run.logs, every=self.recipe.training.log_every),
            *descriptions,
            self.history,
            self.checkpoint,
            self.progress,
            self.interruption,
        ]

    def offer(self, logs: dict) -> bool:
        """Score the weights after `fit`, and keep them if they are the best.

        Args:
            logs: Scores of the weights on the validation data, to which others are added.

        Returns:
            Whether they are the best so far.
        """
        for callback in self._on_one_device([self.quality, self.best]):
            callback.set_model(self.prepared.model)
            callback.on_epoch_end(0, logs)
        return self.best.is_latest

    def replay(self) -> None:
        """Replay the earlier epochs before `fit`, because early stopping may have ended training.

        Then `model.stop_training` is True, and `fit` is not called again.
        """
        for reaction in self.reactions:
            reaction.set_model(self.prepared.model)
            reaction.on_train_begin()

    def _evaluation(self) -> list[keras.callbacks.Callback]:
        """Return the callbacks that evaluate the model after each epoch."""
        model, logs = self.prepared.model, self.run.logs
        validation = self.prepared.held_out["validation"]
        evaluation = [
            self.quality,
            self.best,
            self._samples(),
            keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: write_projector(logs, model)),
        ]
        if model.has_attention:
            evaluation.append(AttentionStatistics(validation))
            if find_spec("matplotlib") is not None:  # of the extra `plot`
                evaluation.append(AttentionImages(logs, validation))
        return evaluation

    def _on_one_device(
        self, callbacks: list[keras.callbacks.Callback]
    ) -> list[keras.callbacks.Callback]:
        """Return callbacks that compute with the model in this process alone."""
        return (
            [OnOneDevice(callbacks, self.prepared.devices)]
            if self.prepared.devices.are_parallel
            else callbacks
        )

    def _samples(self) -> SampleTranslations:
        corpora = self.prepared.batches.corpora
        sources, references = texts(corpora.pairs["validation"].take(_SAMPLES))
        contexts = corpora.contexts.get("validation")
        return SampleTranslations(
            self.run.logs,
            sources,
            references,
            contexts=contexts and contexts[:_SAMPLES],
            **self.recipe.search.greedy_options,
        )

"""Training from a recipe."""

import os
from contextlib import ExitStack
from pathlib import Path
from statistics import harmonic_mean
from tempfile import TemporaryDirectory
from typing import Any

import keras
from rich.console import Console

from kerasnmt.backends import need_text_backend
from kerasnmt.models import in_float32, load_model
from kerasnmt.preset_folders import preset_folder
from kerasnmt.training.batches import RecipeBatches, ShardBatches
from kerasnmt.training.callbacks.checkpoint import Checkpoint, Place
from kerasnmt.training.callbacks.epoch_history import EpochHistory, TrainingClock
from kerasnmt.training.callbacks.training_progress import working
from kerasnmt.training.checks import (
    check_abilities,
    check_batch_size,
    check_model,
    check_same_shapes,
    check_start,
    check_warmup,
)
from kerasnmt.training.corpora import Corpora, texts
from kerasnmt.training.devices import precision, training_devices
from kerasnmt.training.processes import Processes
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.run_callbacks import RunCallbacks
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.schedules import learning_rate_schedule
from kerasnmt.training.scoring import translation_scores
from kerasnmt.training.starts import FurtherStart, NewStart, PresetStart, ResumedStart
from kerasnmt.zoo import get_model


def train(
    recipe: Recipe,
    output: str | os.PathLike,
    *,
    resume: bool = False,
    init_from: str | os.PathLike | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Train and score the model of a recipe.

    After each epoch, the model translates the validation sources with greedy search. It is saved if
    its BLEU score, or the score of `training.monitor`, is the best so far, or equals the best with
    a lower loss. At the end, the best model is scored with the recipe's search options, on the test
    data or, if there is none, on the validation data.

    Training that was interrupted or killed resumes from its latest checkpoint with the same batches
    and the same random numbers. SIGINT and SIGTERM write a checkpoint first; see `Interruption`.

    In several processes on JAX (see `join_processes`), each process calls this function with the
    same recipe, and computes the losses and gradients of its rows of each batch. The files of the
    data must be equal on all machines. Only the first process writes and prints;
    the others need no access to `output`. A run can be resumed with another number of processes.

    Args:
        recipe: Model, data and options of training.
        output: Folder of the run; see `RunFolder`.
        resume: Whether to continue the run in `output` from its latest checkpoint. A finished run
            does not change, unless the recipe has more epochs.
        init_from: Folder of a run, or a preset (see `kerasnmt.zoo.get_preset`). Training starts
            from its tokenizers and best weights, for example to continue on other data. The
            recipe has the `model` and the `tokenizer` of that run. For a preset, dropout rates
            may differ, and only the kinds of the tokenizers are compared.
        console: Console that shows the progress, or None for no output.

    Returns:
        The results, a dict with the content of `results.json`:

        - `model`, `parameters` and `seed`.
        - `test`, the split that was scored.
        - `bleu`, `bleu_signature`, `chrf`, `chrf_signature`, `exact` and `perplexity`.
        - `train_seconds` and `train_cpu_seconds` of the first process, including validation, but
          not the reading of the data.
        - `epochs`, and whether there was `early_stopping`.
        - `average`, if epochs were averaged, with its `val_bleu` and whether it was `kept`.
        - `target_tokens_per_second` of the training steps.
        - `history`; see `EpochHistory`.

    Raises:
        ValueError: If the recipe does not match the data or the zoo, `output` already contains a
            run, there is no run to resume, its data has changed, another process trains in
            `output`, `init_from` has another model, the Keras backend is not TensorFlow or JAX, or
            several processes have different recipes or data.
        ChildProcessError: If another process of the same training run has ended.
        FloatingPointError: If training diverges. The best model so far stays.
        KeyboardInterrupt: At SIGINT.
        Terminated: At SIGTERM during `fit`.
    """
    need_text_backend()
    processes = Processes()
    with ExitStack() as stack:
        stack.enter_context(processes.computing())
        if not processes.is_first:
            output = stack.enter_context(TemporaryDirectory())
            console = None
        run, console = RunFolder(output), console or Console(quiet=True)
        start = _start(recipe, run, console, resume, init_from)
        processes.share(lambda: stack.enter_context(run.locked()))
        processes.share(start.check)
        if (results := processes.share(start.results)) is not None:
            _say(console, f"{run.path}: training is done, there is nothing to resume")
            return results
        return Training(recipe, start, console, processes).run()


def _start(
    recipe: Recipe,
    run: RunFolder,
    console: Console,
    resume: bool,
    init_from: str | os.PathLike | None,
) -> NewStart:
    """Return the start of a run."""
    if resume:
        return ResumedStart(recipe, run, console)
    if init_from is None:
        return NewStart(recipe, run, console)
    earlier = RunFolder(init_from)
    is_preset = not earlier.model.exists() and preset_folder(init_from) is not None
    if is_preset or not earlier.path.exists():
        check_start(init_from)
        return PresetStart(recipe, run, console, init_from)
    return FurtherStart(recipe, run, console, earlier)


class Training:
    """Run of training.

    `run` calls the steps in order: `prepare`, `compile`, `begin`, `fit`, `average`, `report`. Each
    step sets attributes that later steps need.

    Args:
        recipe: Model, data and options of training.
        start: Start of the run, with its folder.
        console: Console that shows the progress.
        processes: The processes of the training run, or None to ask the backend.
    """

    def __init__(
        self,
        recipe: Recipe,
        start: NewStart,
        console: Console,
        processes: Processes | None = None,
    ) -> None:
        self.recipe = recipe
        self.start = start
        self.console = console
        self.processes = processes or Processes()
        self.folder = start.run

    def run(self) -> dict[str, Any]:
        """Train, and return the results."""
        self.prepare()
        self.compile()
        place = self.begin()
        if place.batch:
            _say(self.console, f"resuming in epoch {place.epoch + 1}, after batch {place.batch:,}")
        elif place.epoch:
            _say(self.console, f"resuming after epoch {place.epoch}")
        callbacks = self.callbacks.all()
        with self.callbacks.interruption:
            with self.callbacks.progress:
                self.fit(place, callbacks)
            average = self.average()
            return self.processes.share(lambda: self.report(average))

    def prepare(self) -> None:
        """Read the data and create the model. Nothing is written."""
        with self.recipe.named_in_errors():
            check_model(self.recipe.model.name, self.recipe.model.keywords)
            check_batch_size(self.recipe, self.processes)
            self.devices = training_devices(self.recipe.training.devices, self.processes)
        paths = {
            split: {name for name, value in pairs if isinstance(value, Path)}
            for split, pairs in self.recipe.data.splits.items()
        }
        recipe = self.recipe.model_dump(mode="json", exclude={"data": paths})
        self.processes.check_equal("recipe", recipe)
        weights = self.processes.share(self.start.weights)
        keras.utils.set_random_seed(self.recipe.training.seed)
        with self.console.status("reading the data"):
            self.corpora = Corpora(self.recipe.data, self.processes)
        self.processes.check_equal("data", self.corpora.fingerprints)
        self.processes.share(lambda: self.start.check_data(self.corpora))
        self.processes.gather(lambda: self.start.check_lines(self.corpora))
        bleu_tokenizer = self.processes.share(self._bleu_tokenizer)
        section = self.recipe.training.model_copy(update={"bleu_tokenizer": bleu_tokenizer})
        self.recipe = self.recipe.model_copy(update={"training": section})
        self.tokenizers = self.processes.share(lambda: self.start.tokenizers(self.corpora))
        with self.devices.scope(), precision(self.recipe.training.precision):
            make = get_model(self.recipe.model.name)
            self.model = make(*self.tokenizers.values(), **self.recipe.model.keywords)
        with self.recipe.named_in_errors():
            check_abilities(self.recipe, self.model)
        if weights:
            self.start.check_model(self.model)
            check_same_shapes(self.model, weights)
            with self.devices.scope():
                self.model.set_weights(weights)
        self.batches = self._batches()
        known = self.processes.share(lambda: self.start.statistics(self.batches.readers))
        self.statistics = known or self.batches.statistics(self.console, self.processes)
        with self.recipe.named_in_errors():
            check_warmup(self.recipe, self.statistics.pairs)
        with self.console.status("counting the batches"):
            self.validation = self.batches.held_out("validation")
        _say(self.console, self._description())

    def compile(self) -> None:
        """Compile the model for all steps of training."""
        training = self.recipe.training
        steps = training.epochs * self.statistics.batches
        updates = max(steps // training.accumulate_batches, 1)
        sampling = training.scheduled_sampling
        decay = keras.optimizers.schedules.PolynomialDecay
        with self.devices.scope():
            self.model.compile(
                self._optimizer(steps),
                label_smoothing=training.label_smoothing,
                guided_attention=training.guided_attention or 0.0,
                r_drop=training.r_drop,
                scheduled_sampling=decay(0.0, updates, sampling) if sampling else 0.0,
            )
            # Otherwise the first step creates these variables, and is traced twice.
            self.model.optimizer.build(self.model.trainable_variables)
        self.shared_validation = self.devices.share(self.validation)

    def begin(self) -> Place:
        """Write the first files, create the callbacks, and return the place to continue from."""
        training = self.recipe.training
        self.start.write(self.corpora, self.tokenizers, self.statistics)
        self.folder.write_text(self.folder.recipe, self.recipe.to_yaml())
        clock = TrainingClock()
        self.checkpoint = Checkpoint(
            self.folder.checkpoints,
            every=training.checkpoint_every,
            keep=training.average_epochs or 0,
            clock=clock,
            processes=self.processes,
        )
        with self.devices.scope():
            place = self.start.restore(self.checkpoint, self.model)
        # With another number of processes, an epoch of shards may have fewer batches.
        place = place._replace(batch=min(place.batch, self.statistics.batches - 1))
        if place.epoch and self.processes.count > 1:
            history = self.processes.share(self.folder.history.read_bytes)
            self.folder.history.write_bytes(history)
        self.history = EpochHistory(self.folder.history, initial_epoch=place.epoch, clock=clock)
        self.callbacks = RunCallbacks(
            self.folder,
            self.batches,
            self.statistics,
            self.validation,
            self.checkpoint,
            self.history,
            self.console,
            self.devices,
            self.processes,
        )
        return place

    def fit(self, place: Place, callbacks: list[keras.callbacks.Callback]) -> None:
        """Train from a place to the last epoch."""
        if place.batch:  # in the middle of an epoch
            self._fit(place, place.epoch + 1, callbacks)
            # `fit` has replaced the weights by their moving average.
            with self.devices.scope():
                place = self.checkpoint.restore(self.model)
        elif place.epoch:
            self.callbacks.replay()
        if not self.model.stop_training:
            self._fit(place, self.recipe.training.epochs, callbacks)

    def average(self) -> dict[str, Any] | None:
        """Average the last epochs if the recipe says so, and save the average if it is the best.

        Returns:
            A dict of the number of epochs, the scores and whether the average was kept, or None if
            there is no average.
        """
        if not self.recipe.training.average_epochs:
            return None
        with working(self.console, "averaging the last epochs"):
            with self.devices.scope():
                epochs = self.checkpoint.average(self.model)
                losses = self.model.evaluate(self.shared_validation, verbose=0, return_dict=True)
            logs = {f"val_{name}": value for name, value in losses.items()}
            kept = self.processes.share(lambda: self.callbacks.offer(logs))
            return {"epochs": epochs, **logs, "kept": kept}

    def report(self, average: dict[str, Any] | None) -> dict[str, Any]:
        """Score the best model, and write the results."""
        test = "test" if self.recipe.data.test else "validation"
        with working(self.console, f"scoring the best model on the {test} data"):
            scores: dict[str, Any] = self.score(test)
        records = self.history.records
        results = {
            "model": self.recipe.model.name,
            "parameters": self.model.count_params(),
            "seed": self.recipe.training.seed,
            "test": test,
            **scores,
            "train_seconds": self.history.seconds,
            "train_cpu_seconds": self.history.cpu_seconds,
            "epochs": len(records),
            "early_stopping": len(records) < self.recipe.training.epochs,
            **({"average": average} if average else {}),
            # All epochs have the same tokens, so this is all tokens divided by all seconds.
            "target_tokens_per_second": harmonic_mean(
                record["target_tokens_per_second"] for record in records
            ),
            "history": records,
        }
        # The scores are in a separate group, so that TensorBoard shows the curves first.
        self.callbacks.hyperparameters.write_scores(
            {f"results/{name}": scores[name] for name in ("bleu", "chrf", "exact", "perplexity")}
        )
        self.folder.write_json(self.folder.results, results)
        return results

    def score(self, split: str) -> dict[str, float | str]:
        """Score the best model on disk, which is loaded like on the command line."""
        model = in_float32(load_model(self.folder.model, compile=False))
        sources, references = texts(self.corpora.pairs[split])
        contexts = self.corpora.contexts.get(split)
        translations = model.translate(sources, contexts=contexts, **self.recipe.search.options)
        model.compile()
        batches = RecipeBatches(self.recipe, self.corpora, model).held_out(split)
        losses = model.evaluate(batches, verbose=0, return_dict=True)
        tokenize = self.recipe.training.bleu_tokenizer
        scores = translation_scores(translations, references, tokenize=tokenize)
        return {**scores, "perplexity": losses["perplexity"]}

    def _bleu_tokenizer(self) -> str:
        """Return the tokenizer for BLEU of the whole run."""
        _, references = texts(self.corpora.pairs["validation"])
        with self.recipe.named_in_errors():
            try:
                name = self.start.bleu_tokenizer(references)
            except ValueError as error:
                raise ValueError(f"training.bleu_tokenizer: {error}") from error
        if name not in ("13a", self.recipe.training.bleu_tokenizer):
            _say(self.console, f"BLEU: sacreBLEU's tokenizer {name} suits the validation data")
        return name

    def _batches(self) -> RecipeBatches:
        """Return the batches of this process' shards, or of all data."""
        common = self.recipe, self.corpora, self.model
        if self.corpora.own is self.corpora.pairs["train"]:
            return RecipeBatches(*common)
        return ShardBatches(*common, self.processes)

    def _fit(self, place: Place, epochs: int, callbacks: list[keras.callbacks.Callback]) -> None:
        """Call `fit` once, from a place to the end of an epoch."""
        batches = self.batches.rest(place, self.statistics.batches, self.devices)
        with self.devices.scope():
            self.model.fit(
                batches,
                steps_per_epoch=self.statistics.batches - place.batch,
                validation_data=self.shared_validation,
                epochs=epochs,
                initial_epoch=place.epoch,
                shuffle=False,
                verbose=0,
                callbacks=callbacks,
            )

    def _optimizer(self, steps: int) -> keras.optimizers.Optimizer:
        """Return the optimizer for this number of steps."""
        training = self.recipe.training
        schedule = training.learning_rate_schedule
        learning_rate = learning_rate_schedule(
            training.learning_rate,
            steps,
            schedule="constant" if schedule == "plateau" else schedule,
            warmup_steps=training.warmup_steps,
        )
        options: dict[str, Any] = {"global_clipnorm": training.clip_norm}
        if training.accumulate_batches > 1:
            options["gradient_accumulation_steps"] = training.accumulate_batches
        if training.moving_average:
            options |= {"use_ema": True, "ema_momentum": training.moving_average}
        return self.devices.optimizer(learning_rate, **options)

    def _description(self) -> str:
        """Describe the model and the batches, and explain missing pairs."""
        statistics = self.statistics
        share = f"{statistics.sentences:,} of {statistics.pairs:,} pairs"
        if statistics.sentences < statistics.pairs:
            share += " (the others have an empty side, or are longer than data.max_length)"
        return (
            f"{self.recipe.model.name}: {self.model.count_params():,} parameters; "
            f"{share} in {statistics.batches:,} batches, "
            f"{statistics.padding_share:.1%} padding"
        )


def _say(console: Console, message: str) -> None:
    """Print a message unchanged, in one line."""
    console.print(message, markup=False, highlight=False, soft_wrap=True)

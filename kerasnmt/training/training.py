"""Training from a recipe."""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import harmonic_mean
from tempfile import TemporaryDirectory
from typing import Any

import keras
import tensorflow as tf
from rich.console import Console

from kerasnmt.atomic_write import atomic_write
from kerasnmt.backends import need_text_backend
from kerasnmt.calibration import Calibration, spread
from kerasnmt.models import in_float32, load_model
from kerasnmt.presets.folders import preset_folder
from kerasnmt.progress_lines import say
from kerasnmt.training.callbacks.checkpoint import Checkpoint, Progress
from kerasnmt.training.callbacks.epoch_history import EpochHistory, TrainingClock
from kerasnmt.training.callbacks.training_progress import working
from kerasnmt.training.checks import check_start
from kerasnmt.training.corpora import texts
from kerasnmt.training.prepared import Prepared, prepare
from kerasnmt.training.processes import Processes
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.run_callbacks import RunCallbacks
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.schedules import learning_rate_schedule
from kerasnmt.training.scoring import translation_scores
from kerasnmt.training.starts import FurtherStart, NewStart, PresetStart, ResumedStart
from kerasnmt.zoo import get_preset


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
    data or, if there is none, on the validation data. Before, it is calibrated on at most 300
    validation pairs; see `TranslationModel.calibrate`.

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
            recipe has the same `model`, where dropout rates may differ, and the `tokenizer` of
            that run; for a preset, only the kinds of the tokenizers are compared. If
            `training.loss` is not set, the new run keeps the loss of that model.
        console: Console that shows the progress, or None for no output.

    Returns:
        The results, a dict with the content of `results.json`:

        - `model`, `parameters` and `seed`.
        - `test`, the split that was scored.
        - `bleu`, `bleu_signature`, `chrf`, `chrf_signature`, `exact` and `perplexity`.
        - `calibration`, the parameters of `kerasnmt.tasks.Calibration`, which `model.keras` has
          too. A model whose translations have no words has none.
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
        OSError: If the disk is full. The run can be resumed from its latest checkpoint.
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

        def check() -> dict[str, Any] | None:
            stack.enter_context(run.locked())
            return start.check()

        if (results := processes.share(check)) is not None:
            say(console, f"{run.path}: training is done, there is nothing to resume")
            return results
        prepared = prepare(start, processes)
        compile_model(prepared)
        progress, callbacks = begin(prepared)
        if progress.batch:
            say(console, f"resuming in epoch {progress.epoch + 1}, after batch {progress.batch:,}")
        elif progress.epoch:
            say(console, f"resuming after epoch {progress.epoch}")
        every = callbacks.all()
        with callbacks.interruption, _full_disk(run.path):
            with callbacks.progress:
                fit(callbacks, progress, every)
            averaged = average(callbacks)
            return processes.share(lambda: report(callbacks, averaged))


@contextmanager
def _full_disk(path: Path) -> Iterator[None]:
    """Raise TensorFlow's error of a full disk as an `OSError`. TensorFlow writes the logs."""
    full = os.strerror(errno.ENOSPC)
    try:
        yield
    except tf.errors.OpError as error:
        if full in str(error):
            raise OSError(errno.ENOSPC, full, str(path)) from error
        raise


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
        return PresetStart(recipe, run, console, get_preset(init_from))
    return FurtherStart(recipe, run, console, earlier)


def compile_model(prepared: Prepared) -> None:
    """Compile the model for all steps of training."""
    training, model = prepared.recipe.training, prepared.model
    steps = training.epochs * prepared.statistics.batches
    updates = max(steps // training.accumulate_batches, 1)
    sampling = training.scheduled_sampling
    decay = keras.optimizers.schedules.PolynomialDecay
    with prepared.devices.scope(), prepared.recipe.named_in_errors():
        model.compile(
            _optimizer(prepared, steps),
            loss=training.loss,
            label_smoothing=training.label_smoothing,
            guided_attention=training.guided_attention or 0.0,
            r_drop=training.r_drop,
            scheduled_sampling=decay(0.0, updates, sampling) if sampling else 0.0,
        )
        # Otherwise the first step creates these variables, and is traced twice.
        model.optimizer.build(model.trainable_variables)


def _optimizer(prepared: Prepared, steps: int) -> keras.optimizers.Optimizer:
    """Return the optimizer for this number of steps."""
    training = prepared.recipe.training
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
    return prepared.devices.optimizer(learning_rate, **options)


def begin(prepared: Prepared) -> tuple[Progress, RunCallbacks]:
    """Write the first files, and return the progress to continue from, and the callbacks."""
    start, training, processes = prepared.start, prepared.recipe.training, prepared.processes
    run = start.run
    start.write(prepared.batches.corpora, prepared.tokenizers, prepared.statistics)
    run.write_text(run.recipe, prepared.recipe.to_yaml())
    clock = TrainingClock()
    checkpoint = Checkpoint(
        run.checkpoints,
        every=training.checkpoint_every,
        keep=training.average_epochs or 0,
        clock=clock,
        processes=processes,
    )
    with prepared.devices.scope():
        progress = start.restore(checkpoint, prepared.model)
    # With another number of processes, an epoch of shards may have fewer batches.
    progress = progress._replace(batch=min(progress.batch, prepared.statistics.batches - 1))
    if progress.epoch and processes.count > 1:
        run.history.write_bytes(processes.share(run.history.read_bytes))
    history = EpochHistory(run.history, initial_epoch=progress.epoch, clock=clock)
    return progress, RunCallbacks(prepared, checkpoint, history)


def fit(run: RunCallbacks, progress: Progress, callbacks: list[keras.callbacks.Callback]) -> None:
    """Train to the last epoch, after the progress so far."""
    prepared = run.prepared
    if progress.batch:  # in the middle of an epoch
        _fit(prepared, progress, progress.epoch + 1, callbacks)
        # `fit` has replaced the weights by their moving average.
        with prepared.devices.scope():
            progress = run.checkpoint.restore(prepared.model)
    elif progress.epoch:
        run.replay()
    if not prepared.model.stop_training:
        _fit(prepared, progress, prepared.recipe.training.epochs, callbacks)


def _fit(
    prepared: Prepared, progress: Progress, epochs: int, callbacks: list[keras.callbacks.Callback]
) -> None:
    """Call `fit` once, up to the end of an epoch, after the progress so far."""
    steps, devices = prepared.statistics.batches, prepared.devices
    batches = prepared.batches.rest(progress, steps, devices)
    with devices.scope():
        prepared.model.fit(
            batches,
            steps_per_epoch=steps - progress.batch,
            validation_data=devices.share(prepared.held_out["validation"]),
            epochs=epochs,
            initial_epoch=progress.epoch,
            shuffle=False,
            verbose=0,
            callbacks=callbacks,
        )


def average(run: RunCallbacks) -> dict[str, Any] | None:
    """Average the last epochs if the recipe says so, and save the average if it is the best.

    Returns:
        A dict of the number of epochs, the scores and whether the average was kept, or None if
        there is no average.
    """
    prepared = run.prepared
    if not prepared.recipe.training.average_epochs:
        return None
    with working(prepared.start.console, "averaging the last epochs"):
        with prepared.devices.scope():
            epochs = run.checkpoint.average(prepared.model)
            validation = prepared.devices.share(prepared.held_out["validation"])
            losses = prepared.model.evaluate(validation, verbose=0, return_dict=True)
        logs = {f"val_{name}": value for name, value in losses.items()}
        kept = prepared.processes.share(lambda: run.offer(logs))
        return {"epochs": epochs, **logs, "kept": kept}


def report(run: RunCallbacks, averaged: dict[str, Any] | None) -> dict[str, Any]:
    """Score the best model, and write the results."""
    prepared, history = run.prepared, run.history
    recipe, start = prepared.recipe, prepared.start
    test = "test" if recipe.data.test else "validation"
    with working(start.console, "calibrating the best model on validation data"):
        model, calibration = _calibrated(prepared)
    with working(start.console, f"scoring the best model on the {test} data"):
        scores: dict[str, Any] = _scores(prepared, model, test)
    results = {
        "model": recipe.model.name,
        "parameters": prepared.model.count_params(),
        "seed": recipe.training.seed,
        "test": test,
        **scores,
        **({"calibration": calibration.document()} if calibration else {}),
        "train_seconds": history.seconds,
        "train_cpu_seconds": history.cpu_seconds,
        "epochs": len(history.records),
        "early_stopping": len(history.records) < recipe.training.epochs,
        **({"average": averaged} if averaged else {}),
        # All epochs have the same tokens, so this is all tokens divided by all seconds.
        "target_tokens_per_second": harmonic_mean(
            record["target_tokens_per_second"] for record in history.records
        ),
        "history": history.records,
    }
    # The scores are in a separate group, so that TensorBoard shows the curves first.
    run.hyperparameters.write_scores(
        {f"results/{name}": scores[name] for name in ("bleu", "chrf", "exact", "perplexity")}
    )
    start.run.write_json(start.run.results, results)
    return results


def _calibrated(prepared: Prepared) -> tuple[Any, Calibration | None]:
    """Load the best model like the command line, and add search options and a calibration."""
    path, corpora = prepared.start.run.model, prepared.batches.corpora
    stored = load_model(path, compile=False)
    model = in_float32(stored)
    columns = [*texts(corpora.pairs["validation"])]
    if contexts := corpora.contexts.get("validation"):
        columns.append(contexts)
    rows = spread(len(columns[0]))
    sources, references, *others = ([column[row] for row in rows] for column in columns)
    stored.search_options = model.search_options = prepared.recipe.search.options
    found = model.confidence(sources, contexts=others[0] if others else None)
    try:
        stored.calibration = model.calibration = Calibration.fit(found, references)
    except ValueError:  # of a model that makes no mistake, or has learned nothing
        say(
            prepared.start.console,
            "no calibration of the confidence: the translations of the validation data lack wrong "
            "words, or right ones",
        )
    with atomic_write(path) as temporary:
        stored.save(temporary)
    return model, model.calibration


def _scores(prepared: Prepared, model: Any, split: str) -> dict[str, float | str]:
    """Score the best model."""
    recipe, corpora = prepared.recipe, prepared.batches.corpora
    sources, references = texts(corpora.pairs[split])
    translations = model.translate(sources, contexts=corpora.contexts.get(split))
    model.compile()
    losses = model.evaluate(prepared.held_out[split], verbose=0, return_dict=True)
    scores = translation_scores(translations, references, tokenize=recipe.training.bleu_tokenizer)
    return {**scores, "perplexity": losses["perplexity"]}

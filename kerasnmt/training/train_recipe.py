"""The training that a recipe describes."""

import os
import statistics
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import keras
import tensorflow as tf
from rich.console import Console

from kerasnmt.data import BatchStatistics, batches, describe_batches, split_evenly, word_dropout
from kerasnmt.models import Seq2Seq, in_float32, load_model
from kerasnmt.training.adam import Adam
from kerasnmt.training.attention_images import AttentionImages
from kerasnmt.training.attention_statistics import AttentionStatistics
from kerasnmt.training.best_model import BestModel
from kerasnmt.training.checkpoint import Checkpoint, Place
from kerasnmt.training.corpora import (
    fingerprints,
    read_alignments,
    read_contexts,
    read_pairs,
    texts,
)
from kerasnmt.training.divergence_check import DivergenceCheck
from kerasnmt.training.epoch_history import EpochHistory
from kerasnmt.training.hyperparameters import Hyperparameters
from kerasnmt.training.interruption import Interruption
from kerasnmt.training.length_histograms import LengthHistograms
from kerasnmt.training.model_section import check_model
from kerasnmt.training.moving_average import MovingAverage
from kerasnmt.training.projector import write_projector
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.replayed import Replayed
from kerasnmt.training.replica_adam import ReplicaAdam
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.sample_translations import SampleTranslations
from kerasnmt.training.schedules import learning_rate_schedule
from kerasnmt.training.scoring import translation_scores
from kerasnmt.training.step_scalars import StepScalars
from kerasnmt.training.throughput import Throughput
from kerasnmt.training.tokenizer_section import load_tokenizers, save_tokenizers, train_tokenizers
from kerasnmt.training.training_clock import TrainingClock
from kerasnmt.training.training_progress import TrainingProgress
from kerasnmt.training.translation_quality import TranslationQuality
from kerasnmt.zoo import get_model

# So many sentences are translated for TensorBoard after each epoch.
_SAMPLES = 8
# The names of what `training.monitor` chooses among, in the logs, and whether more is better.
_MONITORED = {"bleu": ("val_bleu", "max"), "chrf": ("val_chrf", "max"), "loss": ("val_loss", "min")}


def train(
    recipe: Recipe,
    output: str | os.PathLike,
    *,
    resume: bool = False,
    init_from: str | os.PathLike | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Trains and scores a model.

    After each epoch the validation sources are translated greedily, and the model is kept if its
    BLEU (or what `training.monitor` says) is the best so far, or equals the best with a lower loss;
    the best model is scored in the end, by the recipe's search, on the test data, or on the
    validation data where the recipe has no test data.

    A training that was interrupted, or killed, goes on from its latest checkpoint as if nothing had
    happened: same batches, same random numbers. At SIGINT and SIGTERM the training writes a
    checkpoint first, see `Interruption`.

    Args:
        recipe: what to train, on what, and how.
        output: the folder of the run, see `RunFolder`.
        resume: whether to continue the run in `output` after its latest checkpoint. A run that is
            done stays as it is, unless the recipe asks for more epochs.
        init_from: the folder of a run whose best model's weights, and tokenizers, are begun with,
            to train it further on other data; the recipe's `model` and `tokenizer` are those of
            that run.
        console: where progress is shown; None for nowhere.

    Returns:
        The results, as in `results.json`: `model`, `parameters`, `seed`; `test`, which data was
        scored; `bleu`, `bleu_signature`, `chrf`, `chrf_signature`, `perplexity`; `train_seconds`
        and `train_cpu_seconds`, with validation and without reading the data; `epochs`, and whether
        `early_stopping` came before the last; `average`, where epochs were averaged, with its
        `val_bleu` and whether it is what was `kept`; `target_tokens_per_second` of the training
        steps; `history`, see `EpochHistory`.

    Raises:
        ValueError: something in the recipe does not suit the data or the zoo, `output` already
            holds a run, there is none to resume, its data have changed, another training uses
            `output`, or `init_from` is another model.
        FloatingPointError: the training diverges. The best model so far stays.
        KeyboardInterrupt: at SIGINT.
        Terminated: at SIGTERM, from the first step on.
    """
    with RunFolder(output).locked():
        return _train(recipe, output, resume, init_from, console or Console(quiet=True))


def _train(
    recipe: Recipe,
    output: str | os.PathLike,
    resume: bool,
    init_from: str | os.PathLike | None,
    console: Console,
) -> dict[str, Any]:
    """Train and score a model, in a folder that no other training uses."""
    run = RunFolder(output)
    if resume:
        run.check_resumable()
        _check_same_recipe(run, recipe)
        if run.results.exists():
            results = run.read_json(run.results)
            if results["early_stopping"] or results["epochs"] >= recipe.training.epochs:
                console.print(
                    f"{run.path}: the training is done, there is nothing to resume",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
                return results
    else:
        run.check_unused()
    check_model(recipe.model.name, recipe.model.keywords)
    earlier = None if init_from is None or resume else _earlier_model(init_from, recipe)
    keras.utils.set_random_seed(recipe.training.seed)

    pairs = {
        split: read_pairs(section, split)
        for split in ("train", "validation", "test")
        if (section := getattr(recipe.data, split))
    }
    contexts = {
        split: read_contexts(section)
        for split in pairs
        if (section := getattr(recipe.data, split)).context
    }
    _check_warmup(recipe, len(pairs["train"]))
    files = fingerprints(recipe.data)
    if resume:
        _check_same_files(run, recipe, files)
        tokenizers = load_tokenizers(run.tokenizers)
    elif earlier:
        tokenizers = load_tokenizers(RunFolder(init_from).tokenizers)
    else:
        with _working(console, "training the tokenizers"):
            tokenizers = train_tokenizers(recipe.tokenizer, pairs["train"], contexts.get("train"))
    strategy = _strategy(recipe.training.devices)
    with strategy.scope(), _precision(recipe.training.precision):
        # One tokenizer or two, in the constructor's order.
        model = get_model(recipe.model.name)(*tokenizers.values(), **recipe.model.keywords)
    _check_options(recipe, model, contexts)
    if earlier:
        model.set_weights(earlier.get_weights())

    options = {"seed": recipe.training.seed, "cache": recipe.training.cache}
    if recipe.training.subword_sampling is not None:
        options |= {"cache": False, "subword_sampling": recipe.training.subword_sampling}
    if recipe.training.guided_attention is not None:
        options["alignments"] = read_alignments(recipe.data.train)
    counts = _count(_batches(recipe, model, pairs, contexts, "train", **options), "train")
    validation_batches = _held_out_batches(recipe, model, pairs, contexts, "validation")
    console.print(
        f"{recipe.model.name}: {model.count_params():,} parameters; "
        f"{_share(counts.sentences, len(pairs['train']))} in {counts.batches:,} batches, "
        f"{counts.padding_share:.1%} of the positions padding",
        highlight=False,
        soft_wrap=True,
    )
    with strategy.scope():
        _compile(model, recipe, steps=recipe.training.epochs * counts.batches)
    shared_validation_batches = split_evenly(validation_batches, recipe.training.devices)

    if not resume:
        save_tokenizers(run.tokenizers, tokenizers)
        run.write_json(run.data, files)
    run.write_text(run.recipe, recipe.to_yaml())
    clock = TrainingClock()
    checkpoint = Checkpoint(
        run.checkpoints,
        every=recipe.training.checkpoint_every,
        keep=recipe.training.average_epochs or 0,
        clock=clock,
    )
    with strategy.scope():
        place = checkpoint.restore(model) if resume else Place()
    history = EpochHistory(run.history, initial_epoch=place.epoch, clock=clock)
    monitor, mode = _MONITORED[recipe.training.monitor]
    read = contexts.get("validation")
    quality = TranslationQuality(
        *texts(pairs["validation"]), contexts=read, **_greedy_search(recipe)
    )
    best = BestModel(run.model, monitor=monitor, earlier=history.records)
    samples = [side[:_SAMPLES] for side in (quality.sources, quality.references)]
    evaluation = [
        quality,
        best,
        SampleTranslations(
            run.logs, *samples, contexts=read and read[:_SAMPLES], **_greedy_search(recipe)
        ),
        keras.callbacks.LambdaCallback(
            on_epoch_end=lambda *_: write_projector(run.logs, model),
        ),
    ]
    if model.has_attention:
        evaluation.append(AttentionStatistics(validation_batches))
        evaluation.append(AttentionImages(run.logs, validation_batches))
    if recipe.training.moving_average:
        evaluation = [MovingAverage(evaluation)]
    reactions = []
    if recipe.training.learning_rate_schedule == "plateau":
        plateau = keras.callbacks.ReduceLROnPlateau(
            monitor,
            mode=mode,
            factor=recipe.training.plateau_factor,
            patience=recipe.training.plateau_patience,
            min_delta=0.0,
        )
        rate = recipe.training.learning_rate
        reactions.append(Replayed(plateau, history.records, learning_rate=rate))
    if recipe.training.early_stopping:
        patience = recipe.training.early_stopping
        stopping = keras.callbacks.EarlyStopping(monitor, mode=mode, patience=patience)
        reactions.append(Replayed(stopping, history.records))
    hyperparameters = Hyperparameters(
        run.logs, recipe.model_dump(mode="json", include={"model", "training", "search"})
    )
    progress = TrainingProgress(console, recipe.training.epochs)
    interruption = Interruption(checkpoint)
    callbacks = [
        DivergenceCheck(),
        Throughput(),
        *evaluation,
        *reactions,
        keras.callbacks.TensorBoard(run.logs, write_graph=False),
        StepScalars(run.logs, every=recipe.training.log_every),
        LengthHistograms(run.logs, _batches(recipe, model, pairs, contexts, "train", **options)),
        hyperparameters,
        history,
        checkpoint,
        progress,
        interruption,
    ]

    def fit(place: Place, epochs: int) -> None:
        data = _batches(recipe, model, pairs, contexts, "train", first_epoch=place.epoch, **options)
        first_batch = place.epoch * counts.batches + place.batch
        model.fit(
            split_evenly(
                word_dropout(
                    data.skip(place.batch),
                    recipe.training.word_dropout,
                    seed=recipe.training.seed,
                    first_batch=first_batch,
                ),
                recipe.training.devices,
            ),
            steps_per_epoch=counts.batches - place.batch,
            validation_data=shared_validation_batches,
            epochs=epochs,
            initial_epoch=place.epoch,
            shuffle=False,
            verbose=0,
            callbacks=callbacks,
        )

    if place.epoch and not place.batch:  # the epochs on record may have ended the training
        for reaction in reactions:
            reaction.set_model(model)
            reaction.on_train_begin()

    with interruption:
        with progress:
            if place.batch:  # what is left of an epoch
                fit(place, place.epoch + 1)
                # `fit` leaves the moving average in place of the weights.
                place = checkpoint.restore(model)
            if not model.stop_training:
                fit(place, recipe.training.epochs)
        average = None
        if recipe.training.average_epochs:
            with _working(console, "averaging the last epochs"):
                average = _average(model, checkpoint, shared_validation_batches, quality, best)
        test = "test" if recipe.data.test else "validation"
        with _working(console, f"scoring the best model on the {test} data"):
            scores = _evaluate(run, recipe, pairs, contexts, test)
        results = {
            "model": recipe.model.name,
            "parameters": model.count_params(),
            "seed": recipe.training.seed,
            "test": test,
            **scores,
            "train_seconds": history.seconds,
            "train_cpu_seconds": history.cpu_seconds,
            "epochs": len(history.records),
            "early_stopping": len(history.records) < recipe.training.epochs,
            **({"average": average} if average else {}),
            # Each epoch has the same tokens, so this is all tokens over all seconds.
            "target_tokens_per_second": statistics.harmonic_mean(
                record["target_tokens_per_second"] for record in history.records
            ),
            "history": history.records,
        }
        # In a group of their own, so that TensorBoard shows the curves first.
        hyperparameters.write_scores(
            {f"results/{name}": scores[name] for name in ("bleu", "chrf", "perplexity")}
        )
        run.write_json(run.results, results)
        return results


def _working(console: Console, what: str) -> AbstractContextManager:
    """Shows what goes on: a moving line on a terminal, else a line that stays."""
    if console.is_terminal:
        return console.status(what)
    console.print(what, highlight=False)
    return nullcontext()


def _check_same_recipe(run: RunFolder, recipe: Recipe) -> None:
    """Makes sure that a run goes on with its own recipe, but for the number of epochs."""
    old, new = (_flat(part.model_dump(mode="json")) for part in (Recipe.load(run.recipe), recipe))
    for key in old | new:
        if old.get(key) != new.get(key) and key != "training.epochs":
            raise ValueError(
                f"Expected the recipe of the run to resume, in {run.recipe}, where {key} is "
                f"{old.get(key)!r}; only training.epochs may differ. "
                f"Received: {key}={new.get(key)!r}. Repeat the changes of the first command."
            )


def _check_warmup(recipe: Recipe, pairs: int) -> None:
    """Refuse a warm-up that is too long for any batch size, before tokenizers are trained."""
    most = recipe.training.epochs * pairs
    if recipe.training.warmup_steps >= most:
        raise ValueError(
            f"Expected fewer training.warmup_steps than the {most} pairs of all epochs. "
            f"Received: training.warmup_steps={recipe.training.warmup_steps}"
        )


def _check_same_files(run: RunFolder, recipe: Recipe, files: dict[str, dict[str, Any]]) -> None:
    """Check that the data of a run have not changed."""
    if not run.data.exists():
        warnings.warn(f"{run.path} has no {run.data.name}: the data are not compared", stacklevel=2)
        return
    for key, before in run.read_json(run.data).items():
        if files.get(key) != before:
            path = recipe.data.files[key]
            old, new = (
                f"{file['bytes']:,} bytes with the SHA-256 {file['sha256'][:12]}…"
                for file in (before, files[key])
            )
            raise ValueError(
                f"Expected unchanged data to resume the run: {key} had {old}. Received: {path}, "
                f"with {new}. Restore the file, or start another run."
            )


def _flat(section: dict, prefix: str = "") -> dict[str, Any]:
    """The values of a nested dict by their dotted keys."""
    flat = {}
    for name, value in section.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _batches(
    recipe: Recipe,
    model: Seq2Seq,
    pairs: dict[str, tf.data.Dataset],
    contexts: dict[str, list[str]],
    split: str,
    **options: Any,
) -> tf.data.Dataset:
    """Batches of ids as the recipe has them."""
    try:
        return batches(
            pairs[split],
            model.source_tokenizer,
            model.target_tokenizer,
            tokens_per_batch=recipe.training.tokens_per_batch or 4096,
            batch_size=recipe.training.batch_size,
            max_length=recipe.data.max_length,
            few_shapes=recipe.training.few_shapes,
            extended_vocabulary=model.copies,
            contexts=contexts.get(split),
            **options,
        )
    except ValueError as error:
        raise ValueError(f"data.{split}: {error}") from error


def _held_out_batches(
    recipe: Recipe,
    model: Seq2Seq,
    pairs: dict[str, tf.data.Dataset],
    contexts: dict[str, list[str]],
    split: str,
) -> tf.data.Dataset:
    """Batches to evaluate on, of known number: else Keras warns that the data ran out."""
    dataset = _batches(recipe, model, pairs, contexts, split, shuffle=False, cache=True)
    count = _count(dataset, split).batches
    return dataset.apply(tf.data.experimental.assert_cardinality(count))


def _count(dataset: tf.data.Dataset, split: str) -> BatchStatistics:
    """Goes through the batches of an epoch; there has to be one."""
    try:
        return describe_batches(dataset)
    except ValueError as error:
        raise ValueError(f"data.{split}: {error}") from error


@contextmanager
def _precision(name: str) -> Iterator[None]:
    """What is computed in by the layers that are made meanwhile."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float32" if name == "float32" else f"mixed_{name}")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def _strategy(devices: int) -> tf.distribute.Strategy:
    """What shares each batch among several devices: GPUs, or CPUs where there are none."""
    if devices == 1:
        return tf.distribute.get_strategy()
    there = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    if len(there) < devices:
        kinds = {device.device_type for device in there}
        raise ValueError(
            f"Expected training.devices to be at most {len(there)}, the number of "
            f"{' and '.join(kinds)}s that TensorFlow sees. Received: training.devices={devices}"
        )
    return tf.distribute.MirroredStrategy([device.name for device in there[:devices]])


def _earlier_model(path: str | os.PathLike, recipe: Recipe) -> Seq2Seq:
    """The best model of a run, which has to be what the recipe asks for."""
    run = RunFolder(path)
    run.check_trained()
    before = Recipe.load(run.recipe)
    for section in ("model", "tokenizer"):
        old, new = (getattr(part, section).model_dump() for part in (before, recipe))
        if old != new:
            raise ValueError(
                f"Expected the {section} of the run to begin from, in {run.recipe}: "
                f"{old}. Received: {new}. Change the recipe, or begin without init_from."
            )
    return load_model(run.model, compile=False)


def _average(
    model: Seq2Seq,
    checkpoint: Checkpoint,
    validation_batches: tf.data.Dataset,
    quality: TranslationQuality,
    best: BestModel,
) -> dict[str, Any]:
    """Averages the last epochs, and keeps the average if it is the best model."""
    epochs = checkpoint.average(model)
    losses = model.evaluate(validation_batches, verbose=0, return_dict=True)
    logs = {f"val_{name}": value for name, value in losses.items()}
    quality.on_epoch_end(0, logs)
    return {"epochs": epochs, **logs, "kept": best.offer(logs)}


def _share(kept: int, pairs: int) -> str:
    """How many pairs are trained on, and why not all."""
    share = f"{kept:,} of {pairs:,} pairs"
    if kept == pairs:
        return share
    return f"{share} (the others are empty on a side, or longer than data.max_length)"


def _check_options(recipe: Recipe, model: Seq2Seq, contexts: dict[str, list[str]]) -> None:
    """Refuses what the model is asked for and cannot do."""
    for split in ("train", "validation", "test"):
        if getattr(recipe.data, split) and (split in contexts) != model.reads_context:
            raise ValueError(
                f"data.{split}.context: expected a file for a model that reads contexts, and none "
                f"for another. Received: model.name={recipe.model.name}"
            )
    if recipe.training.guided_attention is not None and not model.has_attention:
        raise ValueError(
            "training.guided_attention: expected a model with attention. "
            f"Received: model.name={recipe.model.name}"
        )
    try:
        none = [] if model.reads_context else None
        model.translate([], contexts=none, **recipe.search.options)
    except ValueError as error:
        raise ValueError(f"search: {error}") from error


def _compile(model: Seq2Seq, recipe: Recipe, steps: int) -> None:
    """Compiles a model for a training of so many steps."""
    training = recipe.training
    schedule = training.learning_rate_schedule
    learning_rate = learning_rate_schedule(
        training.learning_rate,
        steps,
        schedule="constant" if schedule == "plateau" else schedule,
        warmup_steps=training.warmup_steps,
    )
    optimizer = Adam if training.devices == 1 else ReplicaAdam
    options = {"global_clipnorm": training.clip_norm}
    if training.accumulate_batches > 1:
        options["gradient_accumulation_steps"] = training.accumulate_batches
    if training.moving_average:
        options |= {"use_ema": True, "ema_momentum": training.moving_average}
    model.compile(
        optimizer(learning_rate, **options),
        label_smoothing=training.label_smoothing,
        guided_attention=training.guided_attention or 0.0,
        scheduled_sampling=keras.optimizers.schedules.PolynomialDecay(
            0.0, max(steps // training.accumulate_batches, 1), training.scheduled_sampling
        )
        if training.scheduled_sampling
        else 0.0,
    )


def _greedy_search(recipe: Recipe) -> dict[str, Any]:
    """The recipe's search, but of one hypothesis, with nothing to rank or to draw."""
    beam = ("beam_size", "length_penalty", "length_normalization", "coverage_penalty")
    beam += ("samples", "temperature", "top_k", "top_p", "seed")
    return {key: value for key, value in recipe.search.options.items() if key not in beam}


def _evaluate(
    run: RunFolder,
    recipe: Recipe,
    pairs: dict[str, tf.data.Dataset],
    contexts: dict[str, list[str]],
    split: str,
) -> dict[str, float | str]:
    """Scores the best model, as it is on disk, and as the command line loads it."""
    model = in_float32(load_model(run.model, compile=False))
    sources, references = texts(pairs[split])
    translations = model.translate(sources, contexts=contexts.get(split), **recipe.search.options)
    model.compile()
    dataset = _held_out_batches(recipe, model, pairs, contexts, split)
    losses = model.evaluate(dataset, verbose=0, return_dict=True)
    return {**translation_scores(translations, references), "perplexity": losses["perplexity"]}

"""The training that a recipe describes."""

import json
import os
import statistics
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import keras
import tensorflow as tf
from rich.console import Console

from kerasnmt.data import BatchStatistics, batches, describe_batches
from kerasnmt.models import Seq2Seq
from kerasnmt.training.attention_images import AttentionImages
from kerasnmt.training.best_model import BestModel
from kerasnmt.training.checkpoint import Checkpoint
from kerasnmt.training.corpora import read_alignments, read_pairs, texts
from kerasnmt.training.epoch_history import EpochHistory
from kerasnmt.training.model_section import check_model
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.schedules import learning_rate_schedule
from kerasnmt.training.scoring import translation_scores
from kerasnmt.training.throughput import Throughput
from kerasnmt.training.tokenizer_section import load_tokenizers, save_tokenizers, train_tokenizers
from kerasnmt.training.training_progress import TrainingProgress
from kerasnmt.training.translation_quality import TranslationQuality
from kerasnmt.zoo import get_model


def train(
    recipe: Recipe,
    output: str | os.PathLike,
    *,
    resume: bool = False,
    console: Console | None = None,
) -> dict[str, Any]:
    """Trains and scores a model.

    After each epoch the validation sources are translated greedily, and the model is kept if its
    BLEU is the best so far, or equals the best with a lower loss; the best model is scored in the
    end, by the recipe's search, on the test data, or on the validation data where the recipe has no
    test data.

    Args:
        recipe: what to train, on what, and how.
        output: the folder of the run, see `RunFolder`.
        resume: whether to continue the run in `output` after its last whole epoch. A run that is
            done stays as it is, unless the recipe asks for more epochs.
        console: where progress is shown; None for nowhere.

    Returns:
        The results, as in `results.json`: `model`, `parameters`, `seed`; `test`, which data was
        scored; `bleu`, `bleu_signature`, `chrf`, `chrf_signature`, `perplexity`; `train_seconds`
        and `train_cpu_seconds`, with validation and without reading the data; `epochs`;
        `target_tokens_per_second` of the training steps; `history`, see `EpochHistory`.

    Raises:
        ValueError: something in the recipe does not suit the data or the zoo, `output` already
            holds a run, or there is none to resume.
    """
    console = console or Console(quiet=True)
    run = RunFolder(output)
    if resume:
        run.check_resumable()
        _check_same_recipe(run, recipe)
        if run.results.exists():
            results = json.loads(run.results.read_text(encoding="utf-8"))
            if results["epochs"] >= recipe.training.epochs:
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

    checkpoint = Checkpoint(run.checkpoints)
    done = checkpoint.epochs if resume else 0
    # Resumed, the epochs go on with other random numbers than those of the epochs that are done.
    seed = recipe.training.seed + done
    keras.utils.set_random_seed(seed)

    pairs = {
        split: read_pairs(section, split)
        for split in ("train", "validation", "test")
        if (section := getattr(recipe.data, split))
    }
    if resume:
        tokenizers = load_tokenizers(run.tokenizers)
    else:
        with _working(console, "training the tokenizers"):
            tokenizers = train_tokenizers(recipe.tokenizer, pairs["train"])
    # One tokenizer or two, in the constructor's order.
    model = get_model(recipe.model.name)(*tokenizers.values(), **recipe.model.keywords)
    _check_options(recipe, model)
    guide = {}
    if recipe.training.guided_attention is not None:
        guide["alignments"] = read_alignments(recipe.data.train)
    train_batches, batch_statistics = _batches(
        recipe, model, pairs, "train", shuffle=True, seed=seed, cache=recipe.training.cache, **guide
    )
    validation_batches, _ = _batches(recipe, model, pairs, "validation", cache=True)
    console.print(
        f"{recipe.model.name}: {model.count_params():,} parameters; "
        f"{_share(batch_statistics.sentences, len(pairs['train']))} in "
        f"{batch_statistics.batches:,} batches, "
        f"{batch_statistics.padding_share:.1%} of the positions padding",
        highlight=False,
        soft_wrap=True,
    )
    _compile(model, recipe, steps=recipe.training.epochs * batch_statistics.batches)

    if not resume:
        save_tokenizers(run.tokenizers, tokenizers)
    run.write_text(run.recipe, recipe.to_yaml())
    if resume:
        checkpoint.restore(model)
    history = EpochHistory(run.history, initial_epoch=done)
    progress = TrainingProgress(console, batch_statistics.batches)
    with progress:
        model.fit(
            train_batches,
            validation_data=validation_batches,
            epochs=recipe.training.epochs,
            initial_epoch=done,
            shuffle=False,
            verbose=0,
            callbacks=[
                Throughput(),
                TranslationQuality(*texts(pairs["validation"]), **_greedy_search(recipe)),
                BestModel(run.model, earlier=history.records),
                *([AttentionImages(run.logs, validation_batches)] if model.has_attention else []),
                keras.callbacks.TensorBoard(run.logs, write_graph=False),
                history,
                checkpoint,
                progress,
            ],
        )
    test = "test" if recipe.data.test else "validation"
    with _working(console, f"scoring the best model on the {test} data"):
        scores = _evaluate(run, recipe, pairs, test)
    results = {
        "model": recipe.model.name,
        "parameters": model.count_params(),
        "seed": recipe.training.seed,
        "test": test,
        **scores,
        "train_seconds": history.seconds,
        "train_cpu_seconds": history.cpu_seconds,
        "epochs": len(history.records),
        # Each epoch has the same tokens, so this is all tokens over all seconds.
        "target_tokens_per_second": statistics.harmonic_mean(
            record["target_tokens_per_second"] for record in history.records
        ),
        "history": history.records,
    }
    run.write_text(run.results, json.dumps(results, indent=2) + "\n")
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
                f"Received: {key}={new.get(key)!r}"
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
    split: str,
    *,
    shuffle: bool = False,
    **options: Any,
) -> tuple[tf.data.Dataset, BatchStatistics]:
    """Batches of ids as the recipe has them, counted; Keras likes to know their number."""
    try:
        dataset = batches(
            pairs[split],
            model.source_tokenizer,
            model.target_tokenizer,
            tokens_per_batch=recipe.training.tokens_per_batch or 4096,
            batch_size=recipe.training.batch_size,
            max_length=recipe.data.max_length,
            shuffle=shuffle,
            extended_vocabulary=model.copies,
            **options,
        )
        counts = describe_batches(dataset)
    except ValueError as error:
        raise ValueError(f"data.{split}: {error}") from error
    return dataset.apply(tf.data.experimental.assert_cardinality(counts.batches)), counts


def _share(kept: int, pairs: int) -> str:
    """How many pairs are trained on, and why not all."""
    share = f"{kept:,} of {pairs:,} pairs"
    if kept == pairs:
        return share
    return f"{share} (the others are empty on a side, or longer than data.max_length)"


def _check_options(recipe: Recipe, model: Seq2Seq) -> None:
    """Refuses what the model is asked for and cannot do."""
    if recipe.training.guided_attention is not None and not model.has_attention:
        raise ValueError(
            "training.guided_attention: expected a model with attention. "
            f"Received: model.name={recipe.model.name}"
        )
    try:
        model.translate([], **recipe.search.options)
    except ValueError as error:
        raise ValueError(f"search: {error}") from error


def _compile(model: Seq2Seq, recipe: Recipe, steps: int) -> None:
    """Compiles a model for a training of so many steps."""
    training = recipe.training
    learning_rate = learning_rate_schedule(
        training.learning_rate,
        steps,
        schedule=training.learning_rate_schedule,
        warmup_steps=training.warmup_steps,
    )
    model.compile(
        keras.optimizers.Adam(learning_rate, global_clipnorm=training.clip_norm),
        label_smoothing=training.label_smoothing,
        guided_attention=training.guided_attention or 0.0,
    )


def _greedy_search(recipe: Recipe) -> dict[str, Any]:
    """The recipe's search, but of one hypothesis, with nothing to rank or to draw."""
    beam = ("beam_size", "length_penalty", "length_normalization", "coverage_penalty")
    beam += ("samples", "temperature", "top_k", "top_p", "seed")
    return {key: value for key, value in recipe.search.options.items() if key not in beam}


def _evaluate(
    run: RunFolder, recipe: Recipe, pairs: dict[str, tf.data.Dataset], split: str
) -> dict[str, float | str]:
    """Scores the best model, as it is on disk."""
    model = keras.saving.load_model(run.model, compile=False)
    sources, references = texts(pairs[split])
    translations = model.translate(sources, **recipe.search.options)
    model.compile()
    dataset, _ = _batches(recipe, model, pairs, split)
    losses = model.evaluate(dataset, verbose=0, return_dict=True)
    return {**translation_scores(translations, references), "perplexity": losses["perplexity"]}

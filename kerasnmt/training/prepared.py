"""Data and model of a run, before training writes anything."""

import math
from dataclasses import dataclass
from pathlib import Path

import keras
import tensorflow as tf

from kerasnmt.data.batch_statistics import unknown_tokens
from kerasnmt.models import Seq2Seq
from kerasnmt.progress_lines import say
from kerasnmt.text import Tokenizer
from kerasnmt.training.batches import EpochStatistics, RecipeBatches, ShardBatches
from kerasnmt.training.checks import (
    check_abilities,
    check_batch_size,
    check_model,
    check_same_model,
)
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.devices import Devices, precision, training_devices
from kerasnmt.training.processes import Processes
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.starts import NewStart
from kerasnmt.zoo import get_model


@dataclass(frozen=True)
class Prepared:
    """Data and model of a run, before training writes anything.

    Attributes:
        start: Start of the run, with its folder and its console.
        batches: Batches of the recipe, for the model.
        tokenizers: Tokenizers, in the order of the model's constructor.
        devices: Devices of training.
        statistics: Statistics of an epoch.
        held_out: Batches of the other splits of the data, `validation` and perhaps `test`.
    """

    start: NewStart
    batches: RecipeBatches
    tokenizers: dict[str, Tokenizer]
    devices: Devices
    statistics: EpochStatistics
    held_out: dict[str, tf.data.Dataset]

    @property
    def recipe(self) -> Recipe:
        """Recipe of the run, with the tokenizer for BLEU and the loss."""
        return self.batches.recipe

    @property
    def model(self) -> Seq2Seq:
        """Model to train."""
        return self.batches.model

    @property
    def processes(self) -> Processes:
        """The processes of the training run."""
        return self.batches.corpora.processes


def prepare(start: NewStart, processes: Processes | None = None) -> Prepared:
    """Read the data and create the model. Nothing is written.

    Args:
        start: Start of the run.
        processes: The processes of the training run, or None to ask the backend.

    Raises:
        ValueError: If the recipe does not match the data, the zoo or the start, or the processes
            have different recipes or data.
    """
    recipe, console, processes = start.recipe, start.console, processes or Processes()
    with recipe.named_in_errors():
        check_model(recipe.model.name, recipe.model.keywords)
        check_batch_size(recipe, processes)
        devices = training_devices(recipe.training.devices, processes)
    paths = {
        split: {name for name, value in pairs if isinstance(value, Path)}
        for split, pairs in recipe.data.splits.items()
    }
    processes.check_equal("recipe", recipe.model_dump(mode="json", exclude={"data": paths}))
    trained = processes.share(start.trained)
    keras.utils.set_random_seed(recipe.training.seed)
    with console.status("reading the data"):
        corpora = Corpora(recipe.data, processes)
    processes.check_equal("data", corpora.fingerprints)
    processes.gather(lambda: start.check_lines(corpora))
    read = processes.share(lambda: start.read(corpora, trained))
    training = recipe.training.model_copy(update=read.chosen)
    recipe = recipe.model_copy(update={"training": training})
    with devices.scope(), precision(training.precision):
        make = get_model(recipe.model.name)
        model = make(*read.tokenizers.values(), **recipe.model.keywords)
    with recipe.named_in_errors():
        if recipe.search.shortlist:
            with console.status("making the shortlist"):
                model.make_shortlist(*corpora.sample())
        check_abilities(recipe, model)
    if trained:
        check_same_model(trained, recipe, model)
        with devices.scope():
            model.set_weights(trained.weights)
    for split, unknown in corpora.unknown_tags(model.source_tokenizer.tags).items():
        tags = ", ".join(unknown)
        why = "are not in the training data, so the model reads them as other tokens"
        say(console, f"data.{split}: the tags {tags} {why}")
    for split, (count, pairs) in corpora.in_training().items():
        why = "so its scores are too high. Remove them from one of the two"
        say(console, f"data.{split}: {count:,} of {pairs:,} pairs are also training pairs, {why}")
    batches = (ShardBatches if corpora.readers > 1 else RecipeBatches)(recipe, corpora, model)
    statistics = read.statistics or batches.statistics(console)
    with console.status("counting the batches"):
        # Errors of the test data appear here, and not after training.
        held_out = {one: batches.held_out(one) for one in recipe.data.splits if one != "train"}
    if not trained and (slow := _slow_average(recipe, statistics.batches)):
        say(console, slow)
    if strange := unknown_tokens(statistics.unknown):
        say(console, f"data.train: {strange}")
    say(console, _description(recipe.model.name, model, statistics))
    return Prepared(start, batches, read.tokenizers, devices, statistics, held_out)


def _slow_average(recipe: Recipe, batches: int) -> str | None:
    """Return a warning if the moving average keeps much of the initial weights, or None."""
    momentum, steps = recipe.training.moving_average, recipe.training.epochs * batches
    if momentum is None or (kept := momentum**steps) < 0.05:
        return None
    better = math.floor(1e4 * 0.01 ** (1 / steps)) / 1e4  # keeps one hundredth
    return (
        f"training.moving_average={momentum} is too slow for {steps:,} batches: {kept:.0%} of the "
        f"average are still the initial weights. Use {better or 'null'}"
    )


def _description(name: str, model: Seq2Seq, statistics: EpochStatistics) -> str:
    """Describe the model and the batches, and explain missing pairs."""
    share = f"{statistics.sentences:,} of {statistics.pairs:,} pairs"
    if statistics.sentences < statistics.pairs:
        share += " (the others have an empty side, or are longer than data.max_length)"
    return (
        f"{name}: {model.count_params():,} parameters; {share} in {statistics.batches:,} batches, "
        f"{statistics.padding_share:.1%} padding"
    )

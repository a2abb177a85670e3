"""Batches of a recipe's data."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from rich.console import Console

from kerasnmt.data import BatchStatistics, Shards, batches, word_dropout
from kerasnmt.data.batch_statistics import statistics_of
from kerasnmt.models import Seq2Seq
from kerasnmt.training.callbacks.checkpoint import Place
from kerasnmt.training.callbacks.training_progress import counting
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.recipe import Recipe


class EpochStatistics(NamedTuple):
    """Statistics of an epoch of training.

    Attributes:
        pairs: Number of pairs of the training data.
        sentences: Number of pairs that are not dropped.
        batches: Number of batches.
        padding_share: Fraction of the positions of both sides that are padding, from 0 to 1.
    """

    pairs: int
    sentences: int
    batches: int
    padding_share: float


class RecipeBatches:
    """Batches of ids from a recipe's corpora, for one model.

    A `ValueError` about the data names its key, such as `data.train`.

    Args:
        recipe: Recipe with the batch sizes, the seed and the regularization.
        corpora: Texts of the recipe.
        model: Model whose tokenizers turn the texts into ids.
    """

    def __init__(self, recipe: Recipe, corpora: Corpora, model: Seq2Seq) -> None:
        self.recipe = recipe
        self.corpora = corpora
        self.model = model

    def training(self, first_epoch: int | None = None) -> tf.data.Dataset:
        """Return the batches of the training data.

        Args:
            first_epoch: Number of the first epoch of an infinite dataset, or None for one epoch, in
                another order in each pass.
        """
        training = self.recipe.training
        streams = isinstance(self.corpora.pairs["train"], Shards)
        options: dict[str, Any] = {"seed": training.seed, "cache": training.cache and not streams}
        if training.subword_sampling is not None:
            options |= {"cache": False, "subword_sampling": training.subword_sampling}
        if training.guided_attention is not None:
            options["alignments"] = self.corpora.alignments
        return self._batches("train", first_epoch=first_epoch, **options)

    def statistics(self, console: Console) -> EpochStatistics:
        """Return the statistics of an epoch of training, which is read once.

        Args:
            console: Console that shows the progress.

        Raises:
            ValueError: If there is no batch.
        """
        pairs = len(self.corpora.pairs["train"])
        batches = self.training().as_numpy_iterator()
        counted = counting(console, "counting the batches", batches, pairs)
        found = self._statistics(counted, "train")
        return EpochStatistics(pairs, found.sentences, found.batches, found.padding_share)

    def rest(self, place: Place, batches_per_epoch: int) -> tf.data.Dataset:
        """Return the training batches from a place on."""
        training = self.recipe.training
        return word_dropout(
            self.training(first_epoch=place.epoch).skip(place.batch),
            training.word_dropout,
            seed=training.seed,
            first_batch=place.epoch * batches_per_epoch + place.batch,
        )

    def held_out(self, split: str) -> tf.data.Dataset:
        """Return the batches of another split, in order.

        The number of batches is known. Otherwise, Keras would warn that the data ran out.

        Raises:
            ValueError: If there is no batch.
        """
        dataset = self._batches(split, shuffle=False, cache=True)
        count = self._statistics(dataset.as_numpy_iterator(), split).batches
        return dataset.apply(tf.data.experimental.assert_cardinality(count))

    def _batches(self, split: str, **options: Any) -> tf.data.Dataset:
        training = self.recipe.training
        try:
            return batches(
                self.corpora.pairs[split],
                self.model.source_tokenizer,
                self.model.target_tokenizer,
                tokens_per_batch=training.tokens_per_batch or 4096,
                batch_size=training.batch_size,
                max_length=self.recipe.data.max_length,
                few_shapes=training.few_shapes,
                fill=keras.backend.backend() == "jax",
                extended_vocabulary=self.model.copies,
                contexts=self.corpora.contexts.get(split),
                **options,
            )
        except ValueError as error:
            raise ValueError(f"data.{split}: {error}") from error

    def _statistics(self, batches: Iterable, split: str) -> BatchStatistics:
        try:
            return statistics_of(batches)
        except ValueError as error:
            raise ValueError(f"data.{split}: {error}") from error

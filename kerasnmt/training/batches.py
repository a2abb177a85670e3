"""Batches of a recipe's data."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count, islice, zip_longest
from typing import Any, NamedTuple, Self

import keras
import tensorflow as tf
from rich.console import Console

from kerasnmt.data import BatchStatistics, Shards, describe_batches, word_dropout
from kerasnmt.data.batch_options import BatchOptions
from kerasnmt.data.batch_statistics import statistics_of
from kerasnmt.data.batching import SEEDS_APART, Examples, batches_of
from kerasnmt.models import Seq2Seq
from kerasnmt.training.callbacks.checkpoint import Progress
from kerasnmt.training.callbacks.training_progress import counting
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.devices import Devices
from kerasnmt.training.lockstep import Batch, lockstep
from kerasnmt.training.recipe import Recipe


class EpochStatistics(NamedTuple):
    """Statistics of an epoch of training.

    Attributes:
        pairs: Number of pairs of the training data.
        sentences: Number of pairs that are not dropped.
        batches: Number of batches.
        padding_share: Fraction of the positions of both sides that are padding, from 0 to 1.
        readers: Number of processes that read their own shards, or 1 if each process reads all
            data. The number of batches depends on it.
        lengths: Numbers of sentences of each length; see `BatchStatistics`. It is empty in runs of
            earlier versions.
        unknown: Fractions of unknown tokens of the reader with the most; see `BatchStatistics`. It
            is empty in runs of earlier versions.
    """

    pairs: int
    sentences: int
    batches: int
    padding_share: float
    readers: int = 1
    lengths: dict[str, list[int]] = {}  # noqa: RUF012
    unknown: dict[str, float] = {}  # noqa: RUF012

    @classmethod
    def of(cls, pairs: int, counted: Sequence[BatchStatistics]) -> Self:
        """Return the statistics of the batches of all readers, which have the same shapes."""
        tokens = sum(one.source_tokens + one.target_tokens for one in counted)
        positions = len(counted) * sum(
            rows * (source + target) * count
            for (rows, source, target), count in counted[0].shapes.items()
        )
        lengths = {
            side: [*map(sum, zip_longest(*(one.lengths[side] for one in counted), fillvalue=0))]
            for side in counted[0].lengths
        }
        sentences = sum(one.sentences for one in counted)
        padding_share = 1 - tokens / positions
        unknown = {side: max(one.unknown[side] for one in counted) for side in lengths}
        return cls(
            pairs, sentences, counted[0].batches, padding_share, len(counted), lengths, unknown
        )


class RecipeBatches:
    """Batches of ids from a recipe's corpora, for one model.

    A `ValueError` about the data names its key, such as `data.train`.

    If there are several processes, each reads all batches and keeps its rows, so the batches do not
    depend on the number of processes.

    Args:
        recipe: Recipe with the batch sizes, the seed and the regularization.
        corpora: Texts of the recipe.
        model: Model whose tokenizers turn the texts into ids.
    """

    def __init__(self, recipe: Recipe, corpora: Corpora, model: Seq2Seq) -> None:
        self.recipe = recipe
        self.corpora = corpora
        self.model = model

    def training(self, **options: Any) -> tf.data.Dataset:
        """Return the training batches that this process reads.

        Args:
            **options: Fields of `BatchOptions`, such as `first_epoch`, the first epoch of an
                infinite dataset. By default, there is one epoch, and the seed is the recipe's.
        """
        training, corpora = self.recipe.training, self.corpora
        examples = Examples(
            corpora.own,
            corpora.alignments if training.guided_attention is not None else None,
            corpora.contexts.get("train"),
            corpora.weights,
        )
        streams, sampling = isinstance(corpora.own, Shards), training.subword_sampling
        options = {
            "seed": training.seed,
            "cache": training.cache and not streams and sampling is None,
            "subword_sampling": sampling,
            **options,
        }
        return self._batches("train", examples, corpora.readers, **options)

    def statistics(self, console: Console) -> EpochStatistics:
        """Return the statistics of an epoch of training, which is read once.

        All processes of the training run call this method.

        Args:
            console: Console that shows the progress.

        Raises:
            ValueError: If there is no batch.
        """

        def first() -> EpochStatistics:
            counted = self._counted(console, self.training().as_numpy_iterator())
            return EpochStatistics.of(len(self.corpora.own), [counted])

        return self.corpora.processes.share(first)

    def rest(self, progress: Progress, batches_per_epoch: int, devices: Devices) -> Iterable:
        """Return the rest of the training batches of this process.

        Args:
            progress: Progress before the first batch.
            batches_per_epoch: Number of batches of an epoch.
            devices: Devices of training.
        """
        batches = self._with_dropout(
            self.training(first_epoch=progress.epoch).skip(progress.batch),
            first_batch=progress.epoch * batches_per_epoch + progress.batch,
        )
        return devices.share(batches)

    def held_out(self, split: str) -> tf.data.Dataset:
        """Return the batches of another split, in order.

        The number of batches is known. Otherwise, Keras would warn that the data ran out.

        Raises:
            ValueError: If there is no batch.
        """
        examples = Examples(self.corpora.pairs[split], contexts=self.corpora.contexts.get(split))
        dataset = self._batches(split, examples, shuffle=False, cache=True)
        with _named(split):
            count = describe_batches(dataset).batches
        return dataset.apply(tf.data.experimental.assert_cardinality(count))

    def _with_dropout(self, batches: tf.data.Dataset, first_batch: int) -> tf.data.Dataset:
        """Drop words of training batches, but no tags. A model that copies is to copy the words."""
        training, tokenizer = self.recipe.training, self.model.target_tokenizer
        size = tokenizer.vocabulary_size if self.model.copies else None
        return word_dropout(
            batches,
            training.word_dropout,
            vocabulary_size=size,
            kept_ids=self.model.source_tokenizer.tag_ids,
            seed=training.seed,
            first_batch=first_batch,
        )

    def _batches(
        self, split: str, examples: Examples, parts: int = 1, **options: Any
    ) -> tf.data.Dataset:
        """Return batches of examples, with the sizes of the recipe divided by `parts`."""
        training, model = self.recipe.training, self.model
        with _named(split):
            batch_options = BatchOptions(
                tokens_per_batch=max((training.tokens_per_batch or 4096) // parts, 1),
                batch_size=training.batch_size and training.batch_size // parts,
                max_length=self.recipe.data.max_length,
                few_shapes=training.few_shapes,
                fill=keras.backend.backend() == "jax",
                extended_vocabulary=model.copies,
                **options,
            )
            return batches_of(
                examples, model.source_tokenizer, model.target_tokenizer, batch_options
            )

    def _counted(self, console: Console, batches: Iterator[Batch]) -> BatchStatistics:
        """Count the training batches that this process reads."""
        with _named("train"):
            return statistics_of(
                counting(console, "counting the batches", batches, len(self.corpora.own))
            )


class ShardBatches(RecipeBatches):
    """Batches of a process that reads its own shards, like the other processes.

    In each step, the batches of all processes have the same shape; see `lockstep`. Together they
    are as large as the recipe says. Which pairs are in a batch depends on the number of processes.

    Args:
        recipe: Recipe with the batch sizes, the seed and the regularization.
        corpora: Texts of the recipe, with the shards of this process.
        model: Model whose tokenizers turn the texts into ids.
    """

    def statistics(self, console: Console) -> EpochStatistics:
        """Return the statistics of an epoch of all processes."""
        processes = self.corpora.processes
        pairs = sum(processes.gather(lambda: len(self.corpora.own)))
        counted = self._counted(console, self._epoch(0))
        return EpochStatistics.of(pairs, processes.gather(lambda: counted))

    def rest(self, progress: Progress, batches_per_epoch: int, devices: Devices) -> Iterator[Batch]:
        """Yield the rest of the batches of this process, without an end.

        The number of batches of `lockstep` may differ between epochs, because it depends on the
        shapes: with `few_shapes=False`, with `subword_sampling`, or if many rows wait. Then the
        last batches of an epoch are left out, or its first ones are repeated, so that `progress`
        means the same batch in interrupted training.
        """
        first = progress.batch
        for number in count(progress.epoch):
            again = chain.from_iterable(self._epoch(number, devices) for _ in count())
            yield from islice(again, first, batches_per_epoch)
            first = 0

    def _epoch(self, number: int, devices: Devices | None = None) -> Iterator[Batch]:
        training, processes = self.recipe.training, self.corpora.processes
        batches = self._with_dropout(
            self.training(seed=SEEDS_APART * training.seed + number),
            first_batch=(number * processes.count + processes.index) << 32,
        )
        if devices is not None:
            batches = devices.even(batches)
        return lockstep(batches, processes, [training.seed, number])


@contextmanager
def _named(split: str) -> Iterator[None]:
    """Name the key of the data in a `ValueError`."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"data.{split}: {error}") from error

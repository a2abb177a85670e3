"""Sentences of a corpus, and a sample of them, to train a vocabulary."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from kerasnmt.text.rows import rows, texts_of


def sentences(dataset: Any) -> Iterator[str]:
    """Yield all sentences of a corpus that are not blank, in order, both sources and targets.

    Args:
        dataset: A `tf.data.Dataset` of strings or of `(source, target)` strings, batched or not; an
            iterable of `str`; any corpus that `rows` accepts; or a function that returns one of
            these.

    Yields:
        The sentences as `str`. Bytes that are not UTF-8, and halves of surrogate pairs, become
        U+FFFD.

    Raises:
        ValueError: If `dataset` has entries that are not strings, is infinite, or has no sentences.
    """
    if callable(dataset):
        dataset = dataset()
    empty = True
    for text in _from_dataset(dataset) if isinstance(dataset, tf.data.Dataset) else _flat(dataset):
        if text.strip():
            empty = False
            yield text
    if empty:
        raise ValueError(
            "Expected a corpus with at least one sentence that is not blank. "
            f"Received: dataset={dataset!r}, which has none."
        )


def sample_of_sentences(dataset: Any, sample: int) -> list[str]:
    """Draw sentences of a corpus at random. The same corpus always gives the same sentences.

    Args:
        dataset: See `sentences`.
        sample: Number of sentences to draw. A smaller corpus is returned completely, in order.

    Returns:
        The sentences.

    Raises:
        ValueError: If `sample` is below 1, or `sentences` does not accept `dataset`.
    """
    if sample < 1:
        raise ValueError(f"Expected a sample of at least 1 sentence. Received: sample={sample}.")
    drawn, draw = [], random.Random(0)
    for seen, text in enumerate(sentences(dataset), start=1):
        # Reservoir sampling: each sentence is equally likely, for any order of the corpus.
        if seen <= sample:
            drawn.append(text)
        elif (index := draw.randrange(seen)) < sample:
            drawn[index] = text
    return drawn


def _from_dataset(dataset: tf.data.Dataset) -> Iterator[str]:
    specs = tf.nest.flatten(dataset.element_spec)
    if any(not isinstance(spec, tf.TensorSpec) or spec.dtype != tf.string for spec in specs):
        raise ValueError(
            "Expected a dataset of strings or of (source, target) strings. "
            f"Received: dataset with element_spec={dataset.element_spec}."
        )
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise ValueError(
            "Expected a finite dataset. Received: an infinite dataset. Take a part of it with "
            "dataset.take(count), or remove repeat()."
        )
    if all(spec.shape.rank == 0 for spec in specs):
        dataset = dataset.batch(1024)  # reading single elements would take longer than training
    for element in dataset.as_numpy_iterator():
        for side in tf.nest.flatten(element):
            for text in side.ravel():
                yield text.decode("utf-8", "replace")


def _flat(corpus: Iterable) -> Iterator[str]:
    if isinstance(corpus, str | bytes | Mapping) or not isinstance(corpus, Iterable):
        raise ValueError(
            "Expected a dataset or an iterable of strings or of (source, target) strings. "
            f"Received: dataset={corpus!r}."
        )
    for element in rows(corpus):
        texts = texts_of(element)
        if not texts:
            raise ValueError(
                "Expected an iterable of str or of (source, target) pairs of str. "
                f"Received: an element {element!r:.200}. Leave other columns and missing texts out."
            )
        yield from texts

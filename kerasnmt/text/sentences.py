"""Plain sentences out of whatever a vocabulary is trained on."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from kerasnmt.text.rows import rows


def sentences(dataset: Any) -> Iterator[str]:
    """Yields every sentence of a corpus that is not blank, of all sides, in the corpus' order.

    Args:
        dataset: a `tf.data.Dataset` of strings or of `(source, target)` strings, batched or not; or
            any iterable of `str`, or pairs as `rows` takes them: tuples of `str`, which may hold
            more after these two, two columns, an array or a DataFrame.

    Yields:
        The sentences as `str`; bytes that are not UTF-8 become U+FFFD.

    Raises:
        ValueError: if `dataset` holds anything but strings, never ends, or has no sentence.
    """
    empty = True
    for text in _from_dataset(dataset) if isinstance(dataset, tf.data.Dataset) else _flat(dataset):
        if text.strip():
            empty = False
            yield text
    if empty:
        raise ValueError(
            "Expected a corpus with at least one sentence that is not blank, found none. "
            f"Received: dataset={dataset!r}."
        )


def sample_of_sentences(dataset: Any, sample: int) -> list[str]:
    """Draws sentences of a corpus at random, the same ones for the same corpus.

    Args:
        dataset: see `sentences`.
        sample: how many to draw; of a smaller corpus all are taken, in order.

    Returns:
        The sentences.

    Raises:
        ValueError: if `sample` is below 1, or `dataset` is none that `sentences` takes.
    """
    if sample < 1:
        raise ValueError(f"Expected a sample of at least 1 sentence. Received: sample={sample}.")
    drawn, draw = [], random.Random(0)
    for seen, text in enumerate(sentences(dataset), start=1):
        # Reservoir sampling: each sentence is as likely to stay, whatever the corpus' order.
        if seen <= sample:
            drawn.append(text)
        elif (place := draw.randrange(seen)) < sample:
            drawn[place] = text
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
            "Expected a dataset that ends. Received: an infinite dataset. Take a part of it with "
            "dataset.take(count), or leave out the repeat()."
        )
    if all(spec.shape.rank == 0 for spec in specs):
        dataset = dataset.batch(1024)  # one at a time costs more than the training
    for element in dataset.as_numpy_iterator():
        for side in tf.nest.flatten(element):
            for text in side.ravel():
                yield text.decode("utf-8", "replace")


def _flat(corpus: Iterable) -> Iterator[str]:
    if isinstance(corpus, str | bytes) or not isinstance(corpus, Iterable):
        raise ValueError(
            "Expected a dataset or an iterable of strings or of (source, target) strings. "
            f"Received: dataset={corpus!r}."
        )
    for element in rows(corpus):
        sides = element[:2] if isinstance(element, tuple | list) else (element,)
        if not all(isinstance(text, str) for text in sides):
            raise ValueError(
                "Expected an iterable of str or of (source, target) pairs of str. "
                f"Received: an element {element!r}."
            )
        yield from sides

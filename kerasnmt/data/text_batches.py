"""Batches for `fit` and `evaluate` on texts."""

import math
import warnings
from typing import Any

import tensorflow as tf

from kerasnmt.columns import as_weights
from kerasnmt.data.batch_statistics import describe_batches
from kerasnmt.data.batching import as_dataset, batches, check_count
from kerasnmt.data.shards import Shards


def counted_batches(
    pairs: Any, *tokenizers: Any, max_length: int = 100, shuffle: bool = True, **options: Any
) -> tf.data.Dataset:
    """Return batches, and warn if pairs are dropped.

    The pairs are tokenized once more to count them. `Shards` and infinite datasets are not counted;
    only their first batch is read.

    Args:
        pairs: Pairs in one of the forms of `batches`.
        *tokenizers: Tokenizers of `batches`.
        max_length: See `batches`.
        shuffle: See `batches`.
        **options: Options of `batches`.

    Returns:
        The dataset of `batches`.

    Raises:
        ValueError: If all pairs are dropped, or for the reasons of `batches`.
    """
    if not isinstance(pairs, Shards):
        pairs = as_dataset(pairs)
    options["max_length"] = max_length
    dataset = batches(pairs, *tokenizers, shuffle=shuffle, **options)
    if isinstance(pairs, Shards) or pairs.cardinality() == tf.data.INFINITE_CARDINALITY:
        describe_batches(dataset.take(1))
        return dataset
    options.pop("sample_weight", None)
    kept = describe_batches(batches(pairs, *tokenizers, shuffle=False, **options)).sentences
    total = int(pairs.cardinality())
    if total < 0:
        total = int(pairs.reduce(0, lambda count, *_: count + 1))
    if kept < total:
        warnings.warn(
            f"{total - kept:,} of {total:,} pairs are dropped, because they have an empty side or "
            f"more than {max_length - 1} tokens on a side; kerasnmt.data.batches takes "
            "another max_length",
            stacklevel=5,
        )
    return dataset


def split_pairs(pairs: Any, sample_weight: Any, fraction: float) -> tuple[tuple, tuple]:
    """Split off the last pairs for validation, as Keras does for arrays.

    Args:
        pairs: Pairs in one of the forms of `batches`, but not `Shards`.
        sample_weight: Weight of each pair, or None.
        fraction: Fraction of the pairs for validation.

    Returns:
        Two tuples `(pairs, None, sample_weight)`, for training and for validation.

    Raises:
        ValueError: If the fraction is out of range or one part is empty, or the number of pairs is
            unknown.
    """
    count = -1
    if not isinstance(pairs, Shards):
        pairs = as_dataset(pairs)
        count = int(pairs.cardinality())
    if count < 0:
        raise ValueError(
            "Expected pairs whose number is known with validation_split, such as a list. Received: "
            f"a {type(pairs).__name__}. Pass other pairs as validation_data."
        )
    first = math.floor(count * (1 - fraction)) if 0 < fraction < 1 else 0
    if not 0 < first < count:
        raise ValueError(
            "Expected a validation_split between 0 and 1 that leaves pairs for both parts. "
            f"Received: validation_split={fraction}, and {count} pairs."
        )
    weights: tuple[Any, Any] = None, None
    if sample_weight is not None:
        sample_weight = as_weights("sample_weight", sample_weight)
        check_count("weights", len(sample_weight), pairs)
        weights = sample_weight[:first], sample_weight[first:]
    return (pairs.take(first), None, weights[0]), (pairs.skip(first), None, weights[1])

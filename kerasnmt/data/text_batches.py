"""Batches for `fit` and `evaluate` on texts."""

import math
import warnings
from dataclasses import replace
from typing import Any

import tensorflow as tf

from kerasnmt.columns import as_weights, check_same_index
from kerasnmt.data.batch_options import BatchOptions
from kerasnmt.data.batch_statistics import describe_batches, unknown_tokens
from kerasnmt.data.batching import Examples, as_pairs, batches_of, check_count
from kerasnmt.data.shards import Shards


def counted_batches(
    pairs: Any, *tokenizers: Any, sample_weight: Any = None, **options: Any
) -> tf.data.Dataset:
    """Return batches, and warn if pairs are dropped, or if most tokens are unknown.

    The pairs are tokenized once more to count them. `Shards` and infinite datasets are not counted;
    only their first batch is read.

    Args:
        pairs: Pairs in one of the forms of `batches`.
        *tokenizers: The two tokenizers of `batches`.
        sample_weight: Weight of each pair, or None; see `batches`.
        **options: `BatchOptions`.

    Returns:
        The dataset of `batches`.

    Raises:
        ValueError: If all pairs are dropped, or for the reasons of `batches`.
    """
    check_same_index(pairs=pairs, sample_weight=sample_weight)
    examples, chosen = Examples(as_pairs(pairs)), BatchOptions(**options)
    weighted = examples._replace(sample_weight=sample_weight)
    dataset = batches_of(weighted, *tokenizers, chosen)
    pairs = examples.pairs
    if isinstance(pairs, Shards) or pairs.cardinality() == tf.data.INFINITE_CARDINALITY:
        describe_batches(dataset.take(1))
        return dataset
    in_order = batches_of(examples, *tokenizers, replace(chosen, shuffle=False))
    statistics = describe_batches(in_order)
    kept = statistics.sentences
    total = int(pairs.cardinality())
    if total < 0:
        total = int(pairs.reduce(0, lambda count, *_: count + 1))
    if kept < total:
        warnings.warn(
            f"{total - kept:,} of {total:,} pairs are dropped, because they have an empty side or "
            f"more than {chosen.max_length - 1} tokens on a side; kerasnmt.data.batches takes "
            "another max_length",
            stacklevel=5,
        )
    if message := unknown_tokens(statistics.unknown):
        warnings.warn(message, stacklevel=5)
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
    check_same_index(pairs=pairs, sample_weight=sample_weight)
    pairs = as_pairs(pairs)
    if isinstance(pairs, Shards) or (count := int(pairs.cardinality())) < 0:
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

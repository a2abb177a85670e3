"""Vocabulary shortlists of models that translate."""

import hashlib
from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.alignment import IBMModel1
from kerasnmt.calibration import spread
from kerasnmt.ids import END_ID
from kerasnmt.shortlist import Shortlist

__all__ = ["Shortlist", "ShortlistInGraph", "make_shortlist", "vocabulary_digest"]

# Maximum number of links between source and target positions that are counted, for 2 GB of memory.
_LINKS = 4 * 10**7
_ITERATIONS = 5


class ShortlistInGraph:
    """Shortlist of a model, whose lists TensorFlow computes, eagerly or in a graph.

    Args:
        model: A `kerasnmt.models.TranslationModel` with tokenizers.

    Raises:
        ValueError: If it has no shortlist, or one of other vocabularies, or one that its decoder
            cannot use.
    """

    def __init__(self, model: keras.Model) -> None:
        shortlist = _checked_shortlist(model)
        self._table, self._frequent = map(tf.constant, (shortlist.table, shortlist.frequent))
        self._size = shortlist.target_size

    def __call__(self, source_ids: tf.Tensor, *others: tf.Tensor) -> tf.Tensor:
        """Return the list of a batch, int32 `[size]`; see `Shortlist.listed_ids`."""
        sources, _ = tf.unique(tf.reshape(source_ids, [-1]))
        ids = [self._frequent, tf.gather(self._table, sources), *others]
        ids = tf.concat([tf.reshape(one, [-1, 1]) for one in ids], axis=0)
        listed = tf.scatter_nd(ids, tf.ones_like(ids[:, 0]), [self._size])
        return tf.cast(tf.where(listed > 0)[:, 0], tf.int32)


def _checked_shortlist(model: keras.Model) -> Shortlist:
    _check_output(model)
    if model.shortlist is None:
        raise ValueError(
            f"Expected a model with a shortlist, for shortlist=True. Received: {model.name}, which "
            "has none. Make it with `kerasnmt shortlist RUN PAIRS` or model.make_shortlist."
        )
    if model.shortlist.vocabulary != vocabulary_digest(model):
        raise ValueError(
            "Expected a shortlist of the model's vocabularies. Received: a shortlist with "
            f"{len(model.shortlist.table):,} source and {model.shortlist.target_size:,} target ids "
            f"for {model.name}, with other tokens. Make it with the tokenizers of the model."
        )
    return model.shortlist


def make_shortlist(
    model: keras.Model, sources: Sequence[str], targets: Sequence[str], size: int, frequent: int
) -> Shortlist:
    """Return a shortlist for the vocabularies of a model; see `TranslationModel.make_shortlist`."""
    _check_output(model)
    source, target = model.source_tokenizer, model.target_tokenizer
    ids = source.tokenize(source.normalize_source(sources)), target.tokenize(targets)
    lengths = [np.asarray(one.row_lengths()) for one in ids]
    links = int(np.sum((lengths[0] + 1) * lengths[1]))
    rows = spread(len(sources), int(len(sources) * _LINKS / max(links, _LINKS)))
    columns = [[" ".join(map(str, row)) for row in tf.gather(one, rows).to_list()] for one in ids]
    likely = IBMModel1(_ITERATIONS).fit(zip(*columns, strict=True)).likely(size)
    table = np.zeros((source.vocabulary_size, size), "int32")
    for word, words in likely.items():
        table[int(word), : len(words)] = [*map(int, words)]
    counts = np.bincount(np.asarray(ids[1].flat_values), minlength=target.vocabulary_size)
    most = np.argsort(-counts, kind="stable")[:frequent]
    return Shortlist(table, most, target.vocabulary_size, vocabulary_digest(model))


def vocabulary_digest(model: keras.Model) -> str:
    """Return a digest of the tokens of a model's source and target."""
    digest = hashlib.sha256()
    for tokenizer in (model.source_tokenizer, model.target_tokenizer):
        tokens = tokenizer.tokens(tf.range(tokenizer.vocabulary_size)[None])
        digest.update(b"\n".join(tokens.numpy()[0].tolist()))
    return digest.hexdigest()[:16]


def _check_output(model: keras.Model) -> None:
    """Raise an error if the decoder of a model cannot predict only listed ids."""
    model.output_rows(keras.ops.arange(END_ID + 1, dtype="int32"))

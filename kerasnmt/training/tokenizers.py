"""Tokenizers of a recipe: their training and their file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.data import Shards
from kerasnmt.models import Seq2Seq
from kerasnmt.text import (
    CharacterTokenizer,
    PunctuationTokenizer,
    SentencePieceTokenizer,
    Tokenizer,
    WordTokenizer,
)
from kerasnmt.training.run_folder import RunFolder

_KINDS = {
    tokenizer.kind: tokenizer
    for tokenizer in (
        CharacterTokenizer,
        PunctuationTokenizer,
        SentencePieceTokenizer,
        WordTokenizer,
    )
}


def tokenizers_of(model: Seq2Seq) -> dict[str, Tokenizer]:
    """Return the tokenizers of a model: `shared`, or `source` and `target`."""
    source, target = model.source_tokenizer, model.target_tokenizer
    return {"shared": source} if source is target else {"source": source, "target": target}


def train_tokenizers(
    section: Any, pairs: tf.data.Dataset | Shards, contexts: Sequence[str] | None = None
) -> dict[str, Tokenizer]:
    """Train the tokenizers of a recipe.

    A large corpus is read completely, but only a sample of its sentences is kept: up to a million
    for words and characters, and 250,000 for SentencePiece.

    Args:
        section: The section `tokenizer` of a recipe.
        pairs: Training data, a dataset of `(source, target)` string scalars, or `Shards`.
        contexts: Contexts of the sources, which have the same tokenizer. Equal contexts are counted
            once.

    Returns:
        A dict of the tokenizers `shared`, or `source` and `target`.

    Raises:
        ValueError: If the data does not allow the vocabulary size.
    """
    if isinstance(pairs, Shards):
        pairs = pairs.dataset()
    source = pairs.map(lambda source, target: source)
    target = pairs.map(lambda source, target: target)
    sides = {"shared": pairs, "source": source, "target": target}
    if contexts is not None:
        read = tf.data.Dataset.from_tensor_slices(list(dict.fromkeys(contexts)))
        sides |= {
            "shared": source.concatenate(target).concatenate(read),
            "source": source.concatenate(read),
        }
    tokenizers = {}
    for name, chosen in section.chosen.items():
        try:
            tokenizers[name] = _KINDS[chosen.kind].train(sides[name], **chosen.options)
        except ValueError as error:
            raise ValueError(f"tokenizer.{name}: {error}") from error
    return tokenizers


def save_tokenizers(path: Path, tokenizers: dict[str, Tokenizer]) -> None:
    """Write tokenizers from `train_tokenizers` to a file of JSON."""
    document = {
        name: keras.saving.serialize_keras_object(tokenizer)
        for name, tokenizer in tokenizers.items()
    }
    RunFolder.write_text(path, json.dumps(document, ensure_ascii=False))


def load_tokenizers(path: Path) -> dict[str, Tokenizer]:
    """Read tokenizers from a file that `save_tokenizers` wrote.

    Raises:
        ValueError: If the file is damaged.
    """
    document = RunFolder.read_json(path)
    try:
        if {*document} not in ({"shared"}, {"source", "target"}):
            raise ValueError(f"expected shared, or source and target. Received: {[*document]}")
        return {
            name: keras.saving.deserialize_keras_object(config) for name, config in document.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: the tokenizers cannot be loaded: {error}") from error

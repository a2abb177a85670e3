"""The tokenizers that a recipe asks for."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.atomic_write import atomic_write
from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer, Tokenizer, WordTokenizer
from kerasnmt.training.run_folder import RunFolder

_KINDS = {
    tokenizer.kind: tokenizer
    for tokenizer in (CharacterTokenizer, SentencePieceTokenizer, WordTokenizer)
}


def train_tokenizers(
    section: Any, pairs: tf.data.Dataset, contexts: Sequence[str] | None = None
) -> dict[str, Tokenizer]:
    """Trains the tokenizers of a recipe.

    Args:
        section: the recipe's `tokenizer`.
        pairs: the training data, `(source, target)` string scalars.
        contexts: what is read beside the sources, with the tokenizer of these; of equal ones each
            counts once.

    Returns:
        a `shared` tokenizer, or a `source` and a `target`.

    Raises:
        ValueError: the data do not suit the vocabulary's size.
    """
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
    for name, dataset in sides.items():
        if options := getattr(section, name):
            try:
                tokenizers[name] = _KINDS[options.kind].train(dataset, options.vocabulary_size)
            except ValueError as error:
                raise ValueError(f"tokenizer.{name}: {error}") from error
    return tokenizers


def save_tokenizers(path: Path, tokenizers: dict[str, Tokenizer]) -> None:
    """Writes tokenizers, as `train_tokenizers` returns them, to a file of JSON."""
    document = {
        name: keras.saving.serialize_keras_object(tokenizer)
        for name, tokenizer in tokenizers.items()
    }
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def load_tokenizers(path: Path) -> dict[str, Tokenizer]:
    """Reads what `save_tokenizers` wrote.

    Raises:
        ValueError: the file is damaged.
    """
    document = RunFolder.read_json(path)
    try:
        return {
            name: keras.saving.deserialize_keras_object(config) for name, config in document.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: the tokenizers cannot be loaded: {error}") from error

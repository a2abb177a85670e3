"""Conversion of texts to ids and back, without TensorFlow where that is possible."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class PlainTokenizer(Protocol):
    """Tokenizer that takes and returns Python objects."""

    def encode(self, texts: Sequence[bytes]) -> list[list[int]]:
        """Turn sources with any bytes into ids, without the end token."""

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        """Turn ids into texts."""


def plain_tokenizer(config: Mapping[str, Any]) -> PlainTokenizer:
    """Return a tokenizer from its serialized object.

    SentencePiece needs only its own package. It gives the same pieces as TensorFlow Text, unless
    two segmentations of a text have the same probability: then versions of SentencePiece choose
    differently. Other tokenizers import TensorFlow.

    Args:
        config: A tokenizer of `kerasnmt.text`, from `keras.saving.serialize_keras_object`.

    Raises:
        ValueError: If the object is not a tokenizer.
    """
    if config["registered_name"] == "kerasnmt>SentencePieceTokenizer":
        return _Pieces(**config["config"])
    return _InTensorFlow(config)


class _Pieces:
    def __init__(self, model: str, normalization: str | None = None, **_: Any) -> None:
        import sentencepiece

        from kerasnmt.text.normalization import substitutes

        self._processor = processor = sentencepiece.SentencePieceProcessor()
        processor.LoadFromSerializedProto(base64.b64decode(model))
        pieces = processor.id_to_piece([*range(4, len(processor))])
        self._substitutes = substitutes(pieces) if normalization else None

    def encode(self, texts: Sequence[bytes]) -> list[list[int]]:
        from kerasnmt.text.normalization import with_substitutes

        if (others := self._substitutes) is None:
            return [self._processor.encode(text) for text in texts]
        written = (text.decode("utf-8", "replace") for text in texts)
        return [self._processor.encode(with_substitutes(text, others)) for text in written]

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        return [self._processor.decode(row) for row in ids]


class _InTensorFlow:
    def __init__(self, config: Mapping[str, Any]) -> None:
        import keras

        from kerasnmt.text.register_tokenizers import register_tokenizers

        register_tokenizers()
        self._tokenizer = keras.saving.deserialize_keras_object(config)

    def encode(self, texts: Sequence[bytes]) -> list[list[int]]:
        return self._tokenizer.tokenize(self._tokenizer.normalize_source(texts)).to_list()

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        import tensorflow as tf

        rows = tf.ragged.constant(ids, tf.int32, ragged_rank=1)
        return [text.decode() for text in self._tokenizer.detokenize(rows).numpy()]

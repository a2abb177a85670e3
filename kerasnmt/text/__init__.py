"""Tokenizers that run inside a TensorFlow graph, and the training of their vocabularies."""

from importlib import import_module
from typing import Any

from kerasnmt.text.guess_kind import guess_kind
from kerasnmt.text.register_tokenizers import register_tokenizers
from kerasnmt.text.word_indices import word_indices

# Loaded when first asked for: tokens are put together to words without TensorFlow.
_HOMES = {
    "CharacterTokenizer": "kerasnmt.text.character_tokenizer",
    "ExtendedSource": "kerasnmt.text.extended_source",
    "PlainWordTokenizer": "kerasnmt.text.plain_word_tokenizer",
    "SentencePieceTokenizer": "kerasnmt.text.sentencepiece_tokenizer",
    "Tokenizer": "kerasnmt.text.tokenizer",
    "WordTokenizer": "kerasnmt.text.word_tokenizer",
}

__all__ = [*_HOMES, "guess_kind", "register_tokenizers", "word_indices"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

"""Tokenizers that run inside a TensorFlow graph, and the training of their vocabularies."""

from kerasnmt.text.character_tokenizer import CharacterTokenizer
from kerasnmt.text.extended_source import ExtendedSource
from kerasnmt.text.sentencepiece_tokenizer import SentencePieceTokenizer
from kerasnmt.text.tokenizer import Tokenizer
from kerasnmt.text.word_indices import word_indices
from kerasnmt.text.word_tokenizer import WordTokenizer

__all__ = [
    "CharacterTokenizer",
    "ExtendedSource",
    "SentencePieceTokenizer",
    "Tokenizer",
    "WordTokenizer",
    "word_indices",
]

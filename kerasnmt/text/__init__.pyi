"""Tokenizers that run in a TensorFlow graph, and the training of their vocabularies."""

from .character_tokenizer import CharacterTokenizer
from .extended_ids import ExtendedSource
from .glossary import Glossary
from .guess_kind import guess_kind
from .plain_word_tokenizer import PlainWordTokenizer
from .punctuation_tokenizer import PunctuationTokenizer
from .register_tokenizers import register_tokenizers
from .sentencepiece_tokenizer import SentencePieceTokenizer
from .tags import with_tags
from .tokenizer import Tokenizer
from .word_indices import word_indices
from .word_tokenizer import WordTokenizer

__all__ = [
    "CharacterTokenizer",
    "ExtendedSource",
    "Glossary",
    "PlainWordTokenizer",
    "PunctuationTokenizer",
    "SentencePieceTokenizer",
    "Tokenizer",
    "WordTokenizer",
    "guess_kind",
    "register_tokenizers",
    "with_tags",
    "word_indices",
]

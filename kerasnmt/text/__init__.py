"""Tokenizers that run in a TensorFlow graph, and the training of their vocabularies."""

from kerasnmt.lazy_names import lazy_names
from kerasnmt.text.guess_kind import guess_kind
from kerasnmt.text.register_tokenizers import register_tokenizers
from kerasnmt.text.word_indices import word_indices

# `word_indices` and `guess_kind` need no TensorFlow.
_TOKENIZERS, __getattr__ = lazy_names(
    __name__,
    {
        "character_tokenizer": ["CharacterTokenizer"],
        "extended_source": ["ExtendedSource"],
        "plain_word_tokenizer": ["PlainWordTokenizer"],
        "punctuation_tokenizer": ["PunctuationTokenizer"],
        "sentencepiece_tokenizer": ["SentencePieceTokenizer"],
        "tokenizer": ["Tokenizer"],
        "word_tokenizer": ["WordTokenizer"],
    },
)

__all__ = [*_TOKENIZERS, "guess_kind", "register_tokenizers", "word_indices"]

"""Registration of the tokenizers with Keras."""


def register_tokenizers() -> None:
    """Import all tokenizers of `kerasnmt.text`, so that Keras can load them from a file."""
    from kerasnmt.text import (  # noqa: F401
        CharacterTokenizer,
        PlainWordTokenizer,
        PunctuationTokenizer,
        SentencePieceTokenizer,
        WordTokenizer,
    )

"""The tokenizers that a file may hold."""


def register_tokenizers() -> None:
    """Let Keras know all tokenizers of `kerasnmt.text`, to read them from a file."""
    from kerasnmt.text import (  # noqa: F401
        CharacterTokenizer,
        PlainWordTokenizer,
        SentencePieceTokenizer,
        WordTokenizer,
    )

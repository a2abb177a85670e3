"""Whether an encoder is given its words embedded or not."""

from typing import Any


def check_embedded(embedding: Any, embedded: bool) -> None:
    """Refuse embedded words where there is an embedding, and their lack where there is none.

    Args:
        embedding: the encoder's own, or None.
        embedded: whether the words come embedded.

    Raises:
        ValueError: there are two ways to embed the words, or none.
    """
    if embedded != (embedding is None):
        raise ValueError(
            "Expected an encoder with an embedding of its own, or words that come embedded, as "
            "a model with share_embeddings=True gives them. "
            f"Received: embedding={embedding}, embedded words: {embedded}"
        )

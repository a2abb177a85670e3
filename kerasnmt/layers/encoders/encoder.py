"""Base class of encoders."""

from typing import Any, ClassVar

import keras

from kerasnmt.layers.composite import Composite, build_once


class Encoder(Composite, keras.layers.Layer):
    """Base class of encoders, which compute an annotation of each source position and last states.

    A subclass implements `call`. It sets `memory_units`, the size of an annotation, and
    `state_size`, the sizes of the last states, nested like the states of `call`.
    """

    # Names of the model's inputs that `call` takes, in order.
    reads: ClassVar[tuple[str, ...]] = ("source_ids",)
    # Embedding of the source. None if the words are already embedded, or if there are no words.
    embedding: Any = None
    memory_units: int
    state_size: list

    def inputs(self) -> dict[str, keras.KerasTensor]:
        """Return the inputs of `call` as symbolic tensors, by name."""
        return {name: keras.KerasTensor((None, None), dtype="int32") for name in self.reads}

    def call(self, *inputs: Any, training: bool = False) -> tuple[Any, Any, list]:
        """Read the source.

        Args:
            *inputs: Inputs in `reads`. If the source is text and the encoder has no embedding,
                their embeddings follow.
            training: Whether dropout applies.

        Returns:
            The annotations, `[batch, source_length, memory_units]`; their mask, boolean
            `[batch, source_length]`, True = real position; and the last states: for each layer,
            from top to bottom, and each direction, a list of the cell's states, `[batch, size]`
            each.
        """
        raise NotImplementedError

    def attended_mask(self, mask: Any) -> Any:
        """Return the mask of the source positions in the recorded attention weights.

        Args:
            mask: Mask from `call`.

        Returns:
            Boolean `[batch, source_length]`.
        """
        return mask

    def check_embedded(self, embedded: bool) -> None:
        """Check that the words are embedded once, by the encoder or before it.

        Args:
            embedded: Whether the words are already embedded.

        Raises:
            ValueError: If the words are already embedded and the encoder has an embedding, or
                neither.
        """
        if embedded != (self.embedding is None):
            raise ValueError(
                "Expected either an encoder with an embedding, or embedded words, as in a model "
                "with share_embeddings=True. "
                f"Received: embedding={self.embedding}, embedded words: {embedded}"
            )

    def build_embedding(self, embedded_shape: tuple | None) -> int:
        """Build the embedding, if the encoder has one.

        Args:
            embedded_shape: `(batch, source_length, features)` if the words are already embedded, or
                None.

        Returns:
            Size of an embedded word.

        Raises:
            ValueError: If the words are already embedded and the encoder has an embedding, or
                neither.
        """
        self.check_embedded(embedded_shape is not None)
        if embedded_shape is not None:
            return embedded_shape[-1]
        build_once(self.embedding)
        return self.embedding.output_dim

"""The base class of encoders."""

from typing import Any, ClassVar

import keras

from kerasnmt.layers.composite import Composite, build_once


class Encoder(Composite, keras.layers.Layer):
    """Base class of encoders: from a source to one annotation per position and last states.

    A subclass implements `call`. It sets `memory_units`, the size of an annotation, and
    `state_size`, the sizes of the last states, nested as `call` returns them.
    """

    # The inputs of a model that `call` takes, in order.
    reads: ClassVar[tuple[str, ...]] = ("source_ids",)
    # The embedding of the source. None if the words come embedded, or if there are no words.
    embedding: Any = None
    memory_units: int
    state_size: list

    def inputs(self) -> dict[str, keras.KerasTensor]:
        """Return the inputs of `call` by name, as symbolic tensors."""
        return {name: keras.KerasTensor((None, None), dtype="int32") for name in self.reads}

    def call(self, *inputs: Any, training: bool = False) -> tuple[Any, Any, list]:
        """Read the source.

        Args:
            *inputs: The inputs that `reads` names, then their embeddings if the encoder has no
                embedding and the source is text.
            training: Whether dropout applies.

        Returns:
            The annotations, `[batch, source_length, memory_units]`; their mask, boolean
            `[batch, source_length]`, True = real; and the last states: for each layer, the topmost
            first, and each direction the list of a cell's states, `[batch, size]` each.
        """
        raise NotImplementedError

    def attended_mask(self, mask: Any) -> Any:
        """Return the mask of the positions that the recorded attention weights belong to.

        Args:
            mask: The mask that `call` returns.

        Returns:
            Boolean `[batch, source_length]`.
        """
        return mask

    def check_embedded(self, embedded: bool) -> None:
        """Check that the words are embedded once: by the encoder or before it.

        Args:
            embedded: Whether the words come embedded.

        Raises:
            ValueError: If the words come embedded and the encoder has an embedding, or neither.
        """
        if embedded != (self.embedding is None):
            raise ValueError(
                "Expected either an encoder with an embedding, or embedded words, as from a model "
                "with share_embeddings=True. "
                f"Received: embedding={self.embedding}, embedded words: {embedded}"
            )

    def build_embedding(self, embedded_shape: tuple | None) -> int:
        """Build the embedding, if the encoder has one.

        Args:
            embedded_shape: `(batch, source_length, features)` if the words come embedded, or None.

        Returns:
            The size of an embedded word.

        Raises:
            ValueError: If the words come embedded and the encoder has an embedding, or neither.
        """
        self.check_embedded(embedded_shape is not None)
        if embedded_shape is not None:
            return embedded_shape[-1]
        build_once(self.embedding)
        return self.embedding.output_dim

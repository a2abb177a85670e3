"""The recurrent encoder."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import PAD_ID
from kerasnmt.layers.build_once import build_once
from kerasnmt.layers.gru_cell import GRUCell


@keras.saving.register_keras_serializable("kerasnmt")
class RecurrentEncoder(keras.layers.Layer):
    """A bidirectional GRU over embedded words: annotations h_i = [h_i forward; h_i backward].

    The inputs of both directions are projected in one product before the loops.

    Source: Bahdanau, Cho and Bengio (2015), section 3.2 and appendix A.2.1.

    Args:
        embedding: `keras.layers.Embedding` of the source vocabulary.
        units: size of the state of each direction.
        dropout: share of the embedded words' features that is dropped in training, in [0, 1).
    """

    def __init__(
        self, embedding: keras.layers.Layer, units: int, dropout: float = 0.0, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.embedding = embedding
        self.units = units
        self.dropout = dropout
        self.memory_units = 2 * units
        dtype = self.dtype_policy
        self.embedding_dropout = keras.layers.Dropout(
            dropout, dtype=dtype, name="embedding_dropout"
        )
        self.forward_loop, self.backward_loop = (
            keras.layers.RNN(
                GRUCell(units, dtype=dtype, name="cell"),
                return_sequences=True,
                return_state=True,
                go_backwards=backward,
                dtype=dtype,
                name=name,
            )
            for name, backward in (("forward", False), ("backward", True))
        )
        input_size = self.forward_loop.cell.input_size
        self.input_projection = keras.layers.Dense(
            2 * input_size, dtype=dtype, name="input_projection"
        )

    def build(self, input_shape: tuple) -> None:
        """Make the weights for ids of shape `(batch, source_length)`."""
        build_once(self.embedding)
        self.input_projection.build((*input_shape, self.embedding.output_dim))
        for loop in (self.forward_loop, self.backward_loop):
            loop.build((*input_shape, loop.cell.input_size))

    def call(self, source_ids: Any, training: bool = False) -> tuple[Any, Any, Any]:
        """Read the source in both directions.

        Args:
            source_ids: int32 `[batch, source_length]`, right-padded with 0.
            training: whether dropout applies.

        Returns:
            memory `[batch, source_length, 2 * units]`; its mask, boolean
            `[batch, source_length]`, True = real token; and the last states
            `(forward, backward)`, each `[batch, units]`: forward after the last real word,
            backward after the first. Padding leaves the states as they are.
        """
        mask = ops.not_equal(source_ids, PAD_ID)
        embedded = self.embedding_dropout(self.embedding(source_ids), training=training)
        forward_inputs, backward_inputs = ops.split(self.input_projection(embedded), 2, axis=-1)
        forward, forward_state = self.forward_loop(forward_inputs, mask=mask)
        backward, backward_state = self.backward_loop(backward_inputs, mask=mask)
        memory = ops.concatenate([forward, ops.flip(backward, axis=1)], axis=-1)
        return memory, mask, (forward_state, backward_state)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "embedding": keras.saving.serialize_keras_object(self.embedding),
            "units": self.units,
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config: dict) -> "RecurrentEncoder":
        """Make the layer from `get_config`."""
        config = dict(config)
        config["embedding"] = keras.saving.deserialize_keras_object(config["embedding"])
        return cls(**config)

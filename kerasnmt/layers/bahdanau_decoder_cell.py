"""The decoder cell that attends before its recurrent cell."""

from typing import Any

import keras
from keras import ops

from kerasnmt.layers.build_once import build_once


@keras.saving.register_keras_serializable("kerasnmt")
class BahdanauDecoderCell(keras.layers.Layer):
    """One step of Bahdanau's decoder: attend with s_{t-1}, then feed the context to the cell.

        c_t = sum_i alpha_{t,i} h_i,    alpha_t = attention(s_{t-1}, h)
        s_t = cell(W y_{t-1} + b + C c_t, s_{t-1})

    What does not depend on the state is taken out of the time loop: `project_inputs` makes
    W y_{t-1} + b for all positions at once, and because C c_t = sum_i alpha_{t,i} (C h_i),
    `project_memory` applies C once a source. `step` is the one path of training and search;
    `call` is `step` in the cell protocol of `keras.layers.RNN`, where the memory rides along as
    states that pass through unchanged, because a cell has no other way to receive it.

    Source: Bahdanau, Cho and Bengio (2015), section 3.1 and appendix A.2.2.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        attention: an attention layer, for example `BahdanauAttention(units)`.
    """

    def __init__(self, cell: keras.layers.Layer, attention: keras.layers.Layer, **kwargs) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self.attention = attention
        dtype = self.dtype_policy
        self.input_projection = keras.layers.Dense(
            cell.input_size, dtype=dtype, name="input_projection"
        )
        self.context_projection = keras.layers.Dense(
            cell.input_size, use_bias=False, dtype=dtype, name="context_projection"
        )
        # keras.layers.RNN asks for it; the sizes themselves come with the initial states.
        self.state_size = [*cell.state_size, 0, 0, 0]

    def build(self, input_shape: tuple, memory_shape: tuple) -> None:
        """Make the weights.

        Args:
            input_shape: `(..., features)` of the embedded target.
            memory_shape: `(batch, source_length, memory_units)`.
        """
        build_once(self.cell, (None, self.cell.input_size))
        keys = self.attention.project(keras.KerasTensor(memory_shape))
        build_once(self.attention, (None, self.cell.units), keys.shape)
        self.input_projection.build(input_shape)
        self.context_projection.build(memory_shape)

    def project_memory(self, memory: Any, memory_mask: Any) -> dict[str, Any]:
        """Prepare a source for all steps.

        Args:
            memory: `[batch, source_length, memory_units]`.
            memory_mask: boolean `[batch, source_length]`, True = real token.

        Returns:
            what `step` takes as `memory`: the attention's keys, C h_i as its values, and the mask.
        """
        return {
            "keys": self.attention.project(memory),
            "values": self.context_projection(memory),
            "memory_mask": memory_mask,
        }

    def project_inputs(self, embedded: Any) -> Any:
        """Turn embedded target words `[..., features]` into the inputs of `step`."""
        return self.input_projection(embedded)

    def step(
        self, inputs: Any, states: list[Any], memory: dict[str, Any]
    ) -> tuple[Any, Any, list[Any]]:
        """Make one step for every row, or for several hypotheses of every row.

        Args:
            inputs: from `project_inputs`, `[batch, input_size]` or
                `[batch, hypotheses, input_size]`.
            states: the recurrent cell's states, `[batch, units]` or `[batch, hypotheses, units]`.
            memory: from `project_memory`; one for all hypotheses of a row.

        Returns:
            output s_t `[..., units]`, attention weights float32 `[..., source_length]`, and the
            list of new states.
        """
        context, weights = self.attention(states[0], **memory)
        output, states = self.cell(inputs + context, states)
        return output, weights, states

    def call(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Make one step of `keras.layers.RNN`.

        Args:
            inputs: from `project_inputs`, `[batch, input_size]`.
            states: what `loop_states` returned.

        Returns:
            [s_t; weights], for `split_outputs`, and the new states.
        """
        *states, keys, values, mask = states
        memory = {"keys": keys, "values": values, "memory_mask": ops.cast(mask, "bool")}
        output, weights, states = self.step(inputs, states, memory)
        outputs = ops.concatenate([output, ops.cast(weights, output.dtype)], axis=-1)
        return outputs, [*states, keys, values, mask]

    def loop_states(self, states: list[Any], memory: dict[str, Any]) -> list[Any]:
        """Lay the first states and the memory out as the states of `keras.layers.RNN`."""
        return [*states, memory["keys"], memory["values"], memory["memory_mask"]]

    def split_outputs(self, outputs: Any) -> tuple[Any, Any]:
        """Take the loop's outputs `[batch, target_length, ...]` apart: states and weights."""
        state, weights = outputs[..., : self.cell.units], outputs[..., self.cell.units :]
        return state, ops.cast(weights, "float32")

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "attention": keras.saving.serialize_keras_object(self.attention),
        }

    @classmethod
    def from_config(cls, config: dict) -> "BahdanauDecoderCell":
        """Make the layer from `get_config`."""
        config = dict(config)
        for name in ("cell", "attention"):
            config[name] = keras.saving.deserialize_keras_object(config[name])
        return cls(**config)

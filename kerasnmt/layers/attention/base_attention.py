"""Base class of attention layers."""

from typing import Any

import keras

from kerasnmt.layers.composite import Composite, build_once


class BaseAttention(Composite, keras.layers.Layer):
    """Base class of attention layers, which return a weighted sum of values, and the weights.

    A layer stores nothing between calls. If the weights of a word depend on earlier words,
    `initial_history` and `call` with `return_history=True` return the arguments of `call` that
    describe those words.

    A subclass implements `build`, `project`, `initial_history` and `call`.
    """

    # Names of the arguments of `call` that describe earlier words.
    history: tuple[str, ...] = ()
    # Layer `Coverage`, and loss `DoublyStochastic` on the attention weights of whole targets.
    coverage: keras.layers.Layer | None = None
    penalty: keras.layers.Layer | None = None

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    @property
    def follows(self) -> bool:
        """Whether the weights of a word depend on those of earlier words."""
        return bool({*self.history} - {"position"})

    def build(
        self,
        query_shape: tuple,
        keys_shape: tuple | None = None,
        values_shape: tuple | None = None,
    ) -> None:
        """Create the weights; see `Attention`."""
        raise NotImplementedError

    def project(self, memory: Any) -> Any:
        """Turn a memory `[batch, source_length, memory_units]` into keys, once per source."""
        raise NotImplementedError

    def initial_history(self, memory_mask: Any, training: bool = False) -> dict[str, Any]:
        """Return the history before the first word: the arguments of `call` that describe it.

        Args:
            memory_mask: Boolean `[batch, source_length]`.
            training: Whether the history is for training, where it may contain random numbers.

        Returns:
            A dict of tensors `[batch, ...]`.
        """
        raise NotImplementedError

    def call(
        self,
        query: Any,
        keys: Any = None,
        values: Any = None,
        memory_mask: Any = None,
        query_mask: Any = None,
        values_mask: Any = None,
        return_history: bool = False,
    ) -> tuple:
        """Attend to the values, with the arguments of the history in addition; see `Attention`."""
        raise NotImplementedError


def build_attention(attention: BaseAttention, query_shape: tuple, memory_shape: tuple) -> None:
    """Build an attention to a memory, unless it is already built.

    Files of earlier versions build it for its keys, without what projects the memory to them.
    """
    build_once(attention, query_shape, None, memory_shape)
    attention.project(keras.KerasTensor(memory_shape))

"""Mixin of layers and models that consist of layers."""

import inspect
from typing import Any, Self

import keras


class Composite:
    """Mixin that saves and loads a layer or a model by the arguments of its constructor.

    List it before `keras.layers.Layer` or `keras.Model`, and store each argument of the constructor
    in an attribute of the same name. `get_config` serializes these attributes, including layers,
    and `from_config` creates the object from them.

    ```python
    class Stack(Composite, keras.layers.Layer):
        def __init__(self, layers, residual=False, **kwargs):
            super().__init__(**kwargs)
            self.layers = list(layers)
            self.residual = residual
    ```
    """

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        parameters = inspect.signature(type(self).__init__).parameters.values()
        names = [p.name for p in parameters if p.name != "self" and p.kind != p.VAR_KEYWORD]
        values = {name: getattr(self, name) for name in names}
        config = super().get_config()  # type: ignore[misc]  # of the layer or the model
        return {**config, **keras.saving.serialize_keras_object(values)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create the object from the result of `get_config`."""
        deserialize = keras.saving.deserialize_keras_object
        return cls(**{name: deserialize(value) for name, value in config.items()})


def build_once(layer: keras.layers.Layer, *shapes: tuple | None) -> None:
    """Build a layer with the given shapes, unless it is already built.

    The parts of a layer that was loaded from a file are already built.
    """
    if not layer.built:
        layer.build(*shapes)

"""What layers and models that are made of layers share."""

import inspect
from typing import Any, Self

import keras


class Composite:
    """Save and load a layer or a model by the arguments of its constructor.

    A class with this base, before `keras.layers.Layer` or `keras.Model`, keeps each argument of its
    constructor under the argument's own name. `get_config` writes these attributes, layers among
    them, and `from_config` makes the object from them.

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
        return {**super().get_config(), **keras.saving.serialize_keras_object(values)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make the object from `get_config`."""
        deserialize = keras.saving.deserialize_keras_object
        return cls(**{name: deserialize(value) for name, value in config.items()})


def build_once(layer: keras.layers.Layer, *shapes: tuple) -> None:
    """Build a part with the given shapes, unless it was built before.

    A layer that is read from a file finds its parts built already.
    """
    if not layer.built:
        layer.build(*shapes)

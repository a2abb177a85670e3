"""Mixin of all layers and models, which saves their arguments and what is frozen."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

import keras

# Key of a config: paths of the layers inside that do not train. It is there only if some train and
# some do not, or if all differ from the outermost layer.
NON_TRAINABLE = "non_trainable_layers"


class _Constructor(type(keras.layers.Layer)):  # type: ignore[misc]  # Keras has no types
    """Metaclass of layers that remember the names of their keyword arguments.

    If a layer is created with trainable=False, the layers inside are frozen too. Keras freezes them
    only if `trainable` is set later, because they do not exist before.
    """

    def __call__(cls, *args: Any, **kwargs) -> Any:
        layer = super().__call__(*args, **kwargs)
        layer._keywords = tuple(kwargs)
        # Keras refuses a layer without `super().__init__()`, which has no `trainable`, when it is
        # called. On TensorFlow, to set `trainable` to False again has no effect.
        if not getattr(layer, "trainable", True):
            for _, inside in layers_within(layer):
                inside.trainable = False
        return layer


class Composite(metaclass=_Constructor):
    """Mixin that saves and loads a layer or a model by the arguments of its constructor.

    List it before `keras.layers.Layer` or `keras.Model`, and store each argument of the constructor
    in an attribute of the same name. `get_config` serializes these attributes, including layers and
    the arguments that `*args` and `**kwargs` passed to a base class, and `from_config` creates the
    object from them. Layers inside that are frozen stay frozen, also those that the constructor
    creates.

    ```python
    class Stack(Composite, keras.layers.Layer):
        def __init__(self, layers, residual=False, **kwargs):
            super().__init__(**kwargs)
            self.layers = list(layers)
            self.residual = residual
    ```
    """

    # Names of the keyword arguments that the constructor was called with.
    _keywords: tuple[str, ...] = ()

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, and which of the layers inside do not train."""
        of_keras = inspect.signature(keras.layers.Layer.__init__).parameters
        # A class may consume a keyword, as Keras does with input_shape, and save it in its own way.
        passed = (name for name in self._keywords if hasattr(self, name))
        names = [*_argument_names(type(self)), *passed]
        values = {name: getattr(self, name) for name in names if name not in of_keras}
        config = super().get_config()  # type: ignore[misc]  # of the layer or the model
        trains = {path: layer.trainable for path, layer in _saved_paths(self).items()}
        if set(trains.values()) - {self.trainable}:  # type: ignore[attr-defined]
            config[NON_TRAINABLE] = [path for path, trainable in trains.items() if not trainable]
        return {**config, **keras.saving.serialize_keras_object(values)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create the object from the result of `get_config`.

        Raises:
            ValueError: If a layer inside that does not train is not there.
        """
        deserialize = keras.saving.deserialize_keras_object
        values = {name: deserialize(value) for name, value in config.items()}
        frozen = values.pop(NON_TRAINABLE, None)
        layer = cls(**values)
        if frozen is not None:
            _freeze(layer, frozen)
        return layer


def _argument_names(cls: type) -> Iterator[str]:
    """Yield the arguments of a constructor, and of the next class if it passes `*args` to it."""
    for base in cls.__mro__:
        if "__init__" in vars(base):
            parameters = inspect.signature(base.__init__).parameters.values()  # type: ignore[misc]
            yield from (
                p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            )
            if all(p.kind != p.VAR_POSITIONAL for p in parameters):
                return


def layers_within(layer: Any) -> Iterator[tuple[str, keras.layers.Layer]]:
    """Yield the paths and the layers inside a layer, outer layers first.

    A path consists of the names of layers. If two layers in one have the same name, the second
    name ends with ":2".
    """
    seen, paths, queue = {id(layer)}, Counter[str](), [("", layer)]
    while queue:
        outer_path, outer = queue.pop(0)
        # A `Sequential` has a second model inside, which has no fixed name.
        sequential = isinstance(outer, keras.Sequential)
        for value in [outer.layers] if sequential else vars(outer).values():
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, keras.layers.Layer) and id(one) not in seen:
                    seen.add(id(one))
                    path = f"{outer_path}{one.name}"
                    paths[path] += 1
                    if paths[path] > 1:
                        path = f"{path}:{paths[path]}"
                    queue.append((f"{path}/", one))
                    yield path, one


def _saved_paths(layer: Any) -> dict[str, keras.layers.Layer]:
    """Return the layers inside a layer by paths that are the same in every process.

    An automatic name ends with a number, which depends on how many layers the process has created.
    So the paths have no such numbers. Instead, the layers that share a path are counted: "dense#1",
    "dense#2".
    """
    inside, counts = {}, Counter[str]()
    for path, one in layers_within(layer):
        path = re.sub(r"[_:]\d+(?=/|$)", "", path)
        counts[path] += 1
        inside[f"{path}#{counts[path]}"] = one
    return inside


def _freeze(layer: Any, paths: list[str]) -> None:
    """Freeze the layers inside a layer with these paths. All others inside train."""
    saved = _saved_paths(layer)
    # Earlier versions saved the paths of `layers_within`.
    inside = {**dict(layers_within(layer)), **saved}
    if missing := set(paths) - inside.keys():
        raise ValueError(
            f"Expected layers of {layer.name} as {NON_TRAINABLE}. Received: "
            f"{', '.join(sorted(missing))}. Load the model with the version that saved it."
        )
    # `trainable` also sets the layers inside, so a layer comes before those inside it.
    frozen = {id(inside[path]) for path in paths}
    for one in sorted(saved.values(), key=lambda one: -len(list(layers_within(one)))):
        one.trainable = id(one) not in frozen


def build_once(layer: keras.layers.Layer, *shapes: tuple | None) -> None:
    """Build a layer with the given shapes, unless it is already built.

    The parts of a layer that was loaded from a file are already built.
    """
    if not layer.built:
        layer.build(*shapes)


def comes_from_elsewhere(layer: Any) -> bool:
    """Return whether neither this library nor Keras defines the class of a layer."""
    return not type(layer).__module__.startswith(("kerasnmt.", "keras."))

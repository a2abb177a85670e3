"""Building the parts of a layer."""

import keras


def build_once(layer: keras.layers.Layer, *shapes: tuple) -> None:
    """Build a part with the given shapes, unless it was built before.

    A layer that is read from a file finds its parts built already.
    """
    if not layer.built:
        layer.build(*shapes)

"""A model that was trained in half precision, for use."""

from typing import Any

import keras


def in_float32(model: keras.Model) -> keras.Model:
    """Return a model with the same weights that computes in float32.

    Under mixed precision a layer makes half-precision numbers of its weights whenever it is called,
    which is little beside the products of a training step, but in each step of a search takes
    longer than what it saves.

    Args:
        model: of Keras, with a dtype policy such as `mixed_bfloat16`, whose weights are float32.

    Returns:
        a new model, not compiled, with the model's tokenizers; the model itself where it computes
        in float32.
    """
    if model.compute_dtype == "float32":
        return model
    config = keras.saving.serialize_keras_object(model)
    config.pop("compile_config", None)
    copy = keras.saving.deserialize_keras_object(_with_float32(config))
    copy.set_weights(model.get_weights())
    return copy


def _with_float32(config: Any) -> Any:
    """A config in which each policy of mixed precision is that of float32."""
    if isinstance(config, list | tuple):
        return [_with_float32(part) for part in config]
    if not isinstance(config, dict):
        return config
    if config.get("class_name") == "DTypePolicy" and config["config"]["name"].startswith("mixed_"):
        return {**config, "config": {"name": "float32"}}
    return {name: _with_float32(part) for name, part in config.items()}

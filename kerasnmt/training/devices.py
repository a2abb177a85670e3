"""Devices of training, and the precision of their computation."""

from collections.abc import Iterator
from contextlib import contextmanager

import keras
import tensorflow as tf


def sharing_strategy(devices: int) -> tf.distribute.Strategy:
    """Return the strategy that shares each batch among GPUs, or CPUs if there are no GPUs.

    Args:
        devices: Number of devices.

    Raises:
        ValueError: If TensorFlow sees fewer devices.
    """
    if devices == 1:
        return tf.distribute.get_strategy()
    there = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
    if len(there) < devices:
        kinds = {device.device_type for device in there}
        raise ValueError(
            f"Expected training.devices to be at most {len(there)}, the number of "
            f"{' and '.join(kinds)}s that TensorFlow sees. Received: training.devices={devices}"
        )
    return tf.distribute.MirroredStrategy([device.name for device in there[:devices]])


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Context in which new layers compute in `float32`, `bfloat16` or `float16`."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float32" if name == "float32" else f"mixed_{name}")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)

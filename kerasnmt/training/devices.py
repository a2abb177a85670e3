"""Devices of training, which share each batch, and the precision of their computation."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import keras
import tensorflow as tf

from kerasnmt.data import part_of_batches, split_evenly
from kerasnmt.training.optimizers import Adam, ReplicaAdam
from kerasnmt.training.processes import Processes


class Devices:
    """The device of training.

    Subclasses share each batch among several devices. Losses, metrics and the clipping of gradients
    are the same as on one device.

    Attributes:
        optimizer: Class of the optimizer.
        are_parallel: Whether the model is on several devices of JAX. Then a process that computes
            alone needs a copy.
    """

    optimizer: type[keras.optimizers.Optimizer] = Adam
    are_parallel = False

    def scope(self) -> AbstractContextManager:
        """Context in which the model is created, restored, trained and evaluated."""
        return nullcontext()

    def alone(self) -> AbstractContextManager:
        """Context in which models are on one device of this process."""
        return nullcontext()

    def even(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """Return the batches of this process, with the same number of rows for each device."""
        return batches

    def share(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """Return the part of the batches of all processes that this process needs, for `fit`."""
        return self.even(batches)


class MirroredDevices(Devices):
    """Devices of TensorFlow in one process.

    Args:
        count: Number of GPUs, or of CPUs if there are no GPUs.

    Raises:
        ValueError: If TensorFlow sees fewer devices.
    """

    optimizer = ReplicaAdam

    def __init__(self, count: int) -> None:
        there = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
        _check_count(count, [device.device_type for device in there], "TensorFlow")
        self.count = count
        self.strategy = tf.distribute.MirroredStrategy([device.name for device in there[:count]])

    def scope(self) -> AbstractContextManager:
        """Context of the strategy."""
        return self.strategy.scope()

    def even(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """Return batches with the same number of rows for each device."""
        return split_evenly(batches, self.count)


class ParallelDevices(Devices):
    """Devices of JAX, in one or several processes.

    The rows of a batch are distributed, and the weights are on all devices. JAX computes with whole
    batches, wherever their rows are, so nothing else depends on the devices. All processes must run
    the same computations. So a process that computes alone, such as the first one when it scores,
    uses a copy of the model; see `alone`.

    Args:
        count: Number of devices of each process.
        processes: The processes of the training run.

    Raises:
        ValueError: If JAX sees fewer devices in a process.
    """

    are_parallel = True

    def __init__(self, count: int, processes: Processes) -> None:
        import jax

        self.processes = processes
        chosen = []
        for index in range(processes.count):
            there = jax.local_devices(index)
            _check_count(count, [device.platform.upper() for device in there], "JAX")
            chosen += [f"{device.platform}:{device.id}" for device in there[:count]]
        self.count = len(chosen)
        self.distribution = keras.distribution.DataParallel(
            devices=chosen, auto_shard_dataset=False
        )

    def scope(self) -> AbstractContextManager:
        """Context in which Keras distributes rows and weights."""
        return _distributed(self.distribution)

    def alone(self) -> AbstractContextManager:
        """Context in which Keras distributes nothing."""
        return _distributed(None)

    def even(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """Return batches with the same number of rows for each device of this process."""
        return split_evenly(batches, self.count // self.processes.count)

    def share(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """Return the rows of all batches that belong to the devices of this process."""
        even = split_evenly(batches, self.count)
        return part_of_batches(even, self.processes.count, self.processes.index)


def training_devices(count: int, processes: Processes) -> Devices:
    """Return the devices of training.

    Args:
        count: Number of devices of each process.
        processes: The processes of the training run.

    Raises:
        ValueError: If there are fewer devices.
    """
    if count == processes.count == 1:
        return Devices()
    if keras.backend.backend() == "jax":
        return ParallelDevices(count, processes)
    return MirroredDevices(count)


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Context in which new layers compute in `float32`, `bfloat16` or `float16`."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float32" if name == "float32" else f"mixed_{name}")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


@contextmanager
def _distributed(distribution: keras.distribution.DataParallel | None) -> Iterator[None]:
    before = keras.distribution.distribution()
    keras.distribution.set_distribution(distribution)
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)


def _check_count(count: int, kinds: list[str], sees: str) -> None:
    if len(kinds) < count:
        raise ValueError(
            f"Expected training.devices to be at most {len(kinds)}, the number of "
            f"{' and '.join(sorted(set(kinds)))}s that {sees} sees. "
            f"Received: training.devices={count}"
        )

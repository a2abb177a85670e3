"""Processes that train one model together, on JAX."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np

# Seconds without a heartbeat after which JAX ends the other processes. JAX's default is 100.
# Heartbeats do not wait for training steps.
_HEARTBEAT_TIMEOUT = 30
# Bytes that are sent at once.
_PIECE = 1 << 26
AUTO = "auto"


def join_processes(
    coordinator: str, count: int | None = None, index: int | None = None, *, timeout: int = 300
) -> None:
    """Join the processes that train one model together, before anything else uses JAX.

    Each process of the training run calls this function, and then `train` with the same recipe. It
    waits until all processes have called it.

    Args:
        coordinator: Address `host:port` of the first process, where it waits for the others. If
            there are more addresses, with commas, the first one counts.
            `"auto"` reads the address, the number of processes and the number of this process from
            the environment, if JAX knows it: Slurm, Open MPI, Kubernetes and Cloud TPU.
        count: Number of processes, or None for the number from the environment.
        index: Number of this process, counted from 0, or None for the number from the environment.
        timeout: Seconds to wait for the other processes. Then JAX aborts this process.

    Raises:
        ValueError: If Keras does not run on JAX, an argument is out of range, or the environment
            does not have what is missing.
    """
    if keras.backend.backend() != "jax":
        raise ValueError(
            "Expected Keras to run on JAX to train in several processes. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=jax."
        )
    coordinator = coordinator.split(",")[0]
    _check(coordinator, count, index)
    import jax

    try:
        jax.distributed.initialize(
            None if coordinator == AUTO else coordinator,
            count,
            index,
            initialization_timeout=timeout,
            heartbeat_timeout_seconds=_HEARTBEAT_TIMEOUT,
        )
    except ValueError as error:  # nothing is known about the environment
        raise ValueError(
            "Expected the address of the first process as host:port, the number of processes and "
            "the number of this process, or an environment of Slurm, Open MPI, Kubernetes or Cloud "
            f"TPU. Received: coordinator={coordinator}, processes={count}, process={index}, and "
            f"no such environment ({error})."
        ) from error


def _check(coordinator: str, count: int | None, index: int | None) -> None:
    host, _, port = coordinator.rpartition(":")
    if coordinator != AUTO and not (host and port.isdecimal() and 0 < int(port) < 2**16):
        raise ValueError(
            "Expected the address of the first process as host:port, such as 10.0.0.1:1234, or "
            f"{AUTO}. Received: coordinator={coordinator}"
        )
    if count is not None and count < 1:
        raise ValueError(f"Expected at least 1 process. Received: processes={count}")
    if index is not None and not 0 <= index < (count or index + 1):
        raise ValueError(
            "Expected the number of this process, from 0 to the number of processes - 1. "
            f"Received: process={index}, processes={count}"
        )


class Processes:
    """The processes that train one model together. Without `join_processes`, there is one.

    All processes run the same steps in the same order, because each step of training needs all of
    them. What depends on one machine, such as the files of the run, belongs to the first process,
    which shares its results with the others.

    Attributes:
        count: Number of processes.
        index: Number of this process, counted from 0.
    """

    def __init__(self) -> None:
        self.count, self.index = 1, 0
        if keras.backend.backend() == "jax":
            import jax

            self.count, self.index = jax.process_count(), jax.process_index()

    @property
    def is_first(self) -> bool:
        """Whether this is the first process, which writes, prints and scores."""
        return self.index == 0

    def share(self, make: Callable[[], Any]) -> Any:
        """Call a function in the first process, and return its result in all processes.

        All processes must call this method. The others wait.

        Args:
            make: Function without arguments. Its result can be pickled.

        Raises:
            ValueError: In the other processes, if the function fails in the first process, where
                its own error is raised.
        """
        if self.count == 1:
            return make()
        if not self.is_first:
            result, problem = pickle.loads(self._broadcast(b""))
            if problem is not None:
                raise ValueError(f"The first process has stopped: {problem}")
            return result
        try:
            result = make()
        except Exception as error:
            self._broadcast(pickle.dumps((None, str(error))))
            raise
        self._broadcast(pickle.dumps((result, None)))
        return result

    def gather(self, make: Callable[[], Any]) -> list[Any]:
        """Call a function in all processes, and return their results, in order.

        All processes must call this method.

        Args:
            make: Function without arguments. Its result can be pickled.

        Raises:
            ValueError: In the other processes, if the function fails in one of them, where its own
                error is raised.
        """
        if self.count == 1:
            return [make()]
        try:
            message = pickle.dumps((make(), None))
        except Exception as error:
            self._exchange(pickle.dumps((None, str(error))))
            raise
        answers = [pickle.loads(answer) for answer in self._exchange(message)]
        for index, (_, problem) in enumerate(answers):
            if problem is not None:
                raise ValueError(f"Process {index} has stopped: {problem}")
        return [result for result, _ in answers]

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Context of the computations that need all processes.

        Raises:
            ChildProcessError: If a computation fails in JAX, and there are several processes.
        """
        if self.count == 1:
            yield
            return
        import jax

        try:
            yield
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            # On CPUs it is a ValueError, such as "UNKNOWN: Gloo all-reduce failed".
            if isinstance(error, ValueError) and "Gloo" not in str(error):
                raise
            raise ChildProcessError(
                "A computation of all processes has failed, probably because one of them has ended "
                f"({str(error).splitlines()[0]:.200}). Resume the run with all processes."
            ) from error

    def check_equal(self, what: str, value: Any) -> None:
        """Check that a value is equal in all processes. All processes must call this method.

        Args:
            what: Name of the value, used in error messages.
            value: Value that can be pickled.

        Raises:
            ValueError: In all processes, if a value differs from the value of the first process.
        """
        first, *others = self.gather(lambda: value)
        if value != first:
            raise ValueError(
                f"Expected the same {what} in all processes, such as {first!r:.200} in the first "
                f"one. Received: {value!r:.200} in process {self.index}."
            )
        for index, other in enumerate(others, start=1):
            if other != first:
                raise ValueError(
                    f"Expected the same {what} in all processes. Received: another one in process "
                    f"{index}."
                )

    def _exchange(self, message: bytes) -> list[bytes]:
        """Return the messages of all processes, in order. They are short."""
        from jax.experimental.multihost_utils import process_allgather

        sizes = process_allgather(np.int32(len(message)))
        # JAX compiles for each width.
        padded = np.zeros(1 << int(sizes.max()).bit_length(), "uint8")
        padded[: len(message)] = np.frombuffer(message, "uint8")
        rows = zip(process_allgather(padded), sizes, strict=True)
        return [row[:size].astype("uint8").tobytes() for row, size in rows]

    def _broadcast(self, message: bytes) -> bytes:
        """Return the message of the first process."""
        from jax.experimental.multihost_utils import broadcast_one_to_all

        # The whole message could be too large for an int32, and for a GPU.
        full, rest = map(int, broadcast_one_to_all(np.array(divmod(len(message), _PIECE), "int32")))
        pieces = []
        for number, size in enumerate([*[_PIECE] * full, rest]):
            own = np.frombuffer(message[number * _PIECE :][:size], "uint8")
            piece = broadcast_one_to_all(own if self.is_first else np.zeros(size, "uint8"))
            pieces.append(np.asarray(piece).astype("uint8").tobytes())
        return b"".join(pieces)

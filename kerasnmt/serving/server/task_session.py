"""Task that is served without an export."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from kerasnmt.kinds import kind_of
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.runtimes.session import Session, model_progress
from kerasnmt.tasks import Progress, Task


class _Traced(NamedTuple):
    function: Callable[..., Mapping[str, Any]]
    signature: Signature


class TaskSession(Session):
    """Session of the task of a model in this process.

    Its signatures are those of an export of the model. Each is traced once, when it is first looked
    up, so that a server need not wait for it.

    Args:
        task: The task.

    Attributes:
        signatures: Mapping of the signatures, with the dtype and shape of each input and output.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        _ = task.signatures  # made here, and not by two threads at once
        self._functions: dict[str, _Traced] = {}
        self._tracing = threading.Lock()
        self.signatures: Mapping[str, Signature] = _Signatures(
            task.exported, lambda name: self._traced(name).signature
        )

    def run(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run a signature once; see `Session`."""
        self._check_signature(signature)
        function = self._traced(signature).function
        fields = {name: tf.constant(values, tf.string) for name, values in inputs.items()}
        try:
            outputs = function(**fields)
        except tf.errors.OpError as error:
            raise RuntimeError(error.message) from error
        return {name: outputs[name].numpy() for name in sorted(outputs)}

    def progress(self, request: Mapping[str, str | bytes]) -> Iterator[Progress]:
        """Answer one request; see `Session`."""
        self._check_open()
        with self._tracing:  # the streams of the task are not made by two threads at once
            return model_progress(self._task, request)

    def close(self) -> None:
        """Free the functions; see `Session`."""
        super().close()
        self._functions.clear()

    def _traced(self, name: str) -> _Traced:
        """Return a function with its signature, and trace it the first time."""
        if function := self._functions.get(name):
            return function
        with self._tracing:
            self._check_open()
            if name not in self._functions:
                self._functions[name] = self._trace(name)
            return self._functions[name]

    def _trace(self, name: str) -> _Traced:
        fields = self._task.exported[name].fields
        inputs = {field: TensorInfo(f"{name}_{field}:0", "string", [-1]) for field in fields}
        function: Any = self._task.function(name)
        if keras.backend.backend() == "jax":
            # JAX compiles for given shapes, so only an answer shows what the outputs are.
            contract = kind_of(self._task.fields).contract
            outputs = function(**contract.columns(contract.example_rows[:1], name))
            shapes = {key: [-1] * output.shape.rank for key, output in outputs.items()}
        else:
            outputs = function.structured_outputs
            shapes = {
                key: [-1 if size is None else size for size in output.shape]
                for key, output in outputs.items()
            }
        declared = {
            key: TensorInfo(f"{name}_{key}:0", outputs[key].dtype.name, shapes[key])
            for key in sorted(outputs)
        }
        return _Traced(function, Signature(inputs, declared))


class _Signatures(Mapping[str, Signature]):
    """Signatures by name, which are read when they are looked up."""

    def __init__(self, names: Any, read: Callable[[str], Signature]) -> None:
        self._names, self._read = sorted(names), read

    def __getitem__(self, name: str) -> Signature:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

"""Graphs on ONNX Runtime."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.extras import extras
from kerasnmt.runtime.search import Arrays

ENCODER, STEP, ANSWER = "encoder.onnx", "step.onnx", "answer.onnx"


class OnnxGraphs:
    """Encoder and step of a model.

    Args:
        directory: Folder with `encoder.onnx` and `step.onnx`.
        description: Names of the states and their axes of time (`states`), of the parts of the
            memory (`memory`) and of the records (`records`).
    """

    def __init__(self, directory: Path, description: Mapping[str, Any]) -> None:
        self._encoder, self._step = (OnnxGraph(directory / name) for name in (ENCODER, STEP))
        self._axes = description["states"]
        self._memory = description["memory"]
        self._records = description["records"]

    def encode(self, inputs: Mapping[str, np.ndarray]) -> tuple[Arrays, Arrays, np.ndarray]:
        """Read the source.

        Args:
            inputs: Inputs of the model, int32 `[batch, length]` each.

        Returns:
            The first states, `[batch, 1, ...]`, the memory, `[batch, ...]`, and the mask of the
            source, boolean `[batch, source_length]`.
        """
        outputs = self._encoder(inputs)
        states, memory = (
            {name: outputs[name] for name in names} for names in (self._axes, self._memory)
        )
        return states, memory, outputs["source_mask"]

    def step(
        self, ids: np.ndarray, states: Arrays, memory: Arrays
    ) -> tuple[np.ndarray, Arrays, Arrays]:
        """Predict the next tokens; see `kerasnmt.runtime.search`."""
        states = {name: self._with_room(name, state) for name, state in states.items()}
        outputs = self._step({"ids": ids, **states, **memory})
        following = {name: outputs[f"new_{name}"] for name in states}
        records = {name: outputs[name] for name in self._records}
        return outputs["log_probabilities"], records, following

    def _with_room(self, name: str, state: np.ndarray) -> np.ndarray:
        """Return a state. A cache of earlier steps gets room for another step."""
        axis = self._axes[name]
        if axis is None:
            return state
        shape = [1 if number == axis else size for number, size in enumerate(state.shape)]
        return np.concatenate([state, np.zeros(shape, state.dtype)], axis=axis)


class OnnxGraph:
    """Graph that takes and returns arrays by name.

    Args:
        path: Path of its file.
    """

    def __init__(self, path: Path) -> None:
        with extras():
            import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more threads wait for each other for longer
        self._session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._outputs = [one.name for one in self._session.get_outputs()]

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> Arrays:
        """Run the graph, which may not read all of the inputs."""
        read = {name: inputs[name] for name in self._inputs}
        return dict(zip(self._outputs, self._session.run(self._outputs, read), strict=True))

"""SavedModel that is loaded like in TF Serving, without the Python code of TensorFlow."""

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.serving.protocol.meta_graph import SERVE_TAG, MetaGraph
from kerasnmt.serving.runtimes.saved_model import c_api
from kerasnmt.serving.runtimes.session import Session


class SavedModelSession(Session):
    """SavedModel in a session of the TensorFlow C API.

    The C++ loader of TF Serving loads the model, and `run` runs a signature. The packages
    `tensorflow` and `tensorflow-text` must be installed, but are not imported. The first session of
    a process loads their libraries.

    ```python
    with SavedModelSession("saved_models/bahdanau_gru/1") as session:
        session.run("serving_default", {"text": ["Two dogs run."]})["translation"]
    ```

    Args:
        directory: Path of the folder with `saved_model.pb`.

    Attributes:
        signatures: Dict of the signatures, with the tensor, dtype and shape of each input and
            output.

    Raises:
        RuntimeError: If the libraries cannot be found, or TensorFlow cannot load the model. The
            error contains the message of TensorFlow.
    """

    def __init__(self, directory: str | Path) -> None:
        tf = c_api.library()
        self._session = None
        self._graph = tf.TF_NewGraph()
        options, description = tf.TF_NewSessionOptions(), tf.TF_NewBuffer()
        try:
            tags = (ctypes.c_char_p * 1)(SERVE_TAG.encode())
            path = os.fsencode(directory)
            arguments = (options, None, path, tags, 1, self._graph, description)
            self._session = c_api.call("TF_LoadSessionFromSavedModel", *arguments)
        except RuntimeError:
            self.close()
            raise
        finally:
            tf.TF_DeleteSessionOptions(options)
            meta_graph = c_api.take_buffer(description)
        self.signatures = MetaGraph(meta_graph).signatures

    def run(self, signature: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run a signature once; see `Session`.

        Raises:
            ValueError: If the signature does not exist or has other inputs.
            RuntimeError: If the run fails, with the message of TensorFlow, or the session is
                closed.
        """
        self._check_signature(signature)
        known_inputs, known_outputs = self.signatures[signature]
        if set(inputs) != set(known_inputs):
            raise ValueError(
                f"Expected the inputs {sorted(known_inputs)} of the signature {signature!r}. "
                f"Received: inputs={sorted(inputs)}"
            )
        sources = c_api.find_outputs(self._graph, [info.tensor for info in known_inputs.values()])
        wanted = c_api.find_outputs(self._graph, [info.tensor for info in known_outputs.values()])
        fed = (ctypes.c_void_p * len(sources))()
        fetched = (ctypes.c_void_p * len(wanted))()
        try:
            for index, (name, info) in enumerate(known_inputs.items()):
                fed[index] = c_api.new_tensor(inputs[name], info.dtype)
            feeds = (sources, fed, len(sources))
            fetches = (wanted, fetched, len(wanted))
            c_api.call("TF_SessionRun", self._session, None, *feeds, *fetches, None, 0, None)
            return dict(zip(known_outputs, map(c_api.read_tensor, fetched), strict=True))
        finally:
            for tensor in filter(None, [*fetched, *fed]):
                c_api.library().TF_DeleteTensor(tensor)

    def close(self) -> None:
        """Free the model; see `Session`."""
        super().close()
        if self._session is not None:
            session, self._session = self._session, None
            c_api.call("TF_CloseSession", session)
            c_api.call("TF_DeleteSession", session)
        if self._graph is not None:
            c_api.library().TF_DeleteGraph(self._graph)
            self._graph = None

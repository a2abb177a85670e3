"""Export that a child process serves."""

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerasnmt.serving.check.json_arrays import from_json
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.runtimes.session import Session

# Inputs of a request: the batch of each input, by name.
Inputs = Mapping[str, Sequence[str | bytes]]


class SessionProcess(Session):
    """Child process that loads an export, and runs requests.

    The child opens a session of the export's runtime, like a server. It sees no GPU. If it crashes
    or does not answer, the waiting call raises an error, and the parent continues.

    Args:
        directory: Path of an export. The first request that needs the model loads it.
        timeout: Number of seconds to wait for each answer. A child that takes longer is killed. The
            first answer includes the start of Python and the loading of the libraries.

    Raises:
        RuntimeError: From every method, if the child reports an error, has died or does not answer
            in time. If it has died, the error contains the end of its stderr.
    """

    def __init__(self, directory: str | Path, timeout: float = 300.0) -> None:
        self.directory = Path(directory)
        self.timeout = timeout
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (close() closes it)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kerasnmt.serving.check.session_runner", str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="ascii",
            env=_environment(),
        )
        self._requests: Any = self._process.stdin
        self._answers: Any = self._process.stdout

    def op_support(self) -> dict[str, str]:
        """Return why a server cannot run each op of the model, or empty strings if it can."""
        return self._ask("op_support")

    @functools.cached_property
    def signatures(self) -> dict[str, Signature]:
        """Signatures of the model, by name."""
        return {
            name: Signature(
                {key: TensorInfo(**info) for key, info in signature["inputs"].items()},
                {key: TensorInfo(**info) for key, info in signature["outputs"].items()},
            )
            for name, signature in self._ask("signatures").items()
        }

    def run(self, signature: str, inputs: Inputs) -> dict[str, np.ndarray]:
        """Run a signature whose inputs are strings.

        Args:
            signature: Name of the signature.
            inputs: Dict with the batch of each input.

        Returns:
            A dict of the outputs. Strings are `bytes` in an array of dtype `object`.
        """
        outputs = self._ask("run", signature=signature, inputs=_decoded(inputs))
        return {name: from_json(array) for name, array in outputs.items()}

    def resident_memory(self) -> int:
        """Return the resident memory of the child in bytes."""
        return self._ask("resident_memory")

    def close(self) -> None:
        """End the child."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _ask(self, method: str, **arguments: Any) -> Any:
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(self.timeout, give_up)
        timer.start()
        try:
            print(json.dumps({"method": method, **arguments}), file=self._requests, flush=True)
            line = self._answers.readline()
        except OSError:  # the pipe is broken, because the child is dead
            line = ""
        finally:
            timer.cancel()
        if not line:
            ending = (
                f"gave no answer within {self.timeout:g} s" if late.is_set() else self._ending()
            )
            raise RuntimeError(f"The serving process {ending} (request {method!r})")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def _ending(self) -> str:
        """Return how the child died, with the last lines of its stderr."""
        code = self._process.wait()
        how = (
            f"crashed with {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"{how}: {' | '.join(lines[-5:]) or 'nothing on stderr'}"


def _decoded(inputs: Inputs) -> dict[str, list[str]]:
    return {
        name: [
            value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
            for value in values
        ]
        for name, values in inputs.items()
    }


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2"}
    return {**quiet, **os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "-1"}

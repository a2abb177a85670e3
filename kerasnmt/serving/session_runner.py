"""The process that serves a SavedModel to its parent, as `SessionProcess` starts it.

Run as `python -m kerasnmt.serving.session_runner DIRECTORY`. Each line of stdin is a JSON object
with a `method` and its arguments; each line of stdout is the answer, `{"result": …}` or
`{"error": message}`:

- `op_support`: op → reason why a server cannot run it, empty where it can;
- `signatures`: name → `{"inputs", "outputs"}`, each name → `{"tensor", "dtype", "shape"}`. Loads
  the model, as does the first `run`;
- `run` with `signature` and `inputs`, input name → strings: output name → array, as `json_arrays`
  writes it;
- `time` with `signature`, `requests` and `limit`: runs the inputs of each request, until all are
  run or `limit` seconds have passed, and lists the seconds that each took;
- `resident_memory`: of this process, in bytes.
"""

import functools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from kerasnmt.serving.json_arrays import to_json
from kerasnmt.serving.op_support import op_support
from kerasnmt.serving.resident_memory import resident_memory
from kerasnmt.serving.saved_model_session import SavedModelSession

_Inputs = dict[str, list[str]]


def main() -> None:
    """Answers the requests on stdin until it ends.

    Raises:
        SystemExit: If Python's TensorFlow is imported, with a message.
    """
    _refuse_python_tensorflow()
    directory = sys.argv[1]
    answers = _take_stdout()
    session = functools.cache(lambda: SavedModelSession(directory))
    methods = {
        "op_support": lambda: op_support(directory),
        "signatures": lambda: _signatures(session()),
        "run": lambda signature, inputs: _run(session(), signature, inputs),
        "time": lambda signature, requests, limit: _time(session(), signature, requests, limit),
        "resident_memory": resident_memory,
    }
    for line in sys.stdin:
        print(json.dumps(_answer(methods, line)), file=answers, flush=True)


def _answer(methods: dict[str, Callable[..., Any]], line: str) -> dict[str, Any]:
    request = json.loads(line)
    try:
        result = methods[request.pop("method")](**request)
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)}
    _refuse_python_tensorflow()
    return {"result": result}


def _signatures(session: SavedModelSession) -> dict[str, Any]:
    return {
        name: {
            "inputs": {key: info._asdict() for key, info in signature.inputs.items()},
            "outputs": {key: info._asdict() for key, info in signature.outputs.items()},
        }
        for name, signature in session.signatures.items()
    }


def _run(session: SavedModelSession, signature: str, inputs: _Inputs) -> dict[str, Any]:
    outputs = session.run(signature, _encoded(inputs))
    return {name: to_json(array) for name, array in outputs.items()}


def _time(
    session: SavedModelSession, signature: str, requests: list[_Inputs], limit: float
) -> list[float]:
    seconds = []
    begin = time.perf_counter()
    for inputs in map(_encoded, requests):
        start = time.perf_counter()
        session.run(signature, inputs)
        seconds.append(time.perf_counter() - start)
        if time.perf_counter() - begin > limit:
            break
    return seconds


def _encoded(inputs: _Inputs) -> dict[str, list[bytes]]:
    return {
        name: [value.encode("utf-8", "surrogateescape") for value in values]
        for name, values in inputs.items()
    }


def _take_stdout() -> TextIO:
    """Returns the real stdout, and sends what libraries may print there to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _refuse_python_tensorflow() -> None:
    if "tensorflow" in sys.modules:
        sys.exit("Expected a process without Python's TensorFlow, but something has imported it")


if __name__ == "__main__":
    main()

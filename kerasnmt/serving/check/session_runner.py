"""Child process of `SessionProcess`, which serves an export to its parent.

Run it as `python -m kerasnmt.serving.check.session_runner DIRECTORY`. Each line of stdin is a JSON
object with a `method` and its arguments. Each line of stdout is the answer, `{"result": …}` or
`{"error": message}`. These are the methods:

- `op_support` returns the reason why a server cannot run each op, or an empty string.
- `signatures` loads the model, and returns `inputs` and `outputs` of each signature, with `tensor`,
  `dtype` and `shape`.
- `run` takes `signature` and `inputs`, a dict of lists of strings. It loads the model if necessary,
  and returns a dict of arrays in the form of `json_arrays`.
- `resident_memory` returns the resident memory of this process in bytes.
"""

import functools
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from kerasnmt.serving.check.c_api import op_support
from kerasnmt.serving.check.json_arrays import to_json
from kerasnmt.serving.check.saved_model_session import SavedModelSession
from kerasnmt.serving.export.ctranslate2_model import is_ctranslate2
from kerasnmt.serving.export.ctranslate2_session import CTranslate2Session

_Inputs = dict[str, list[str]]
_Session = SavedModelSession | CTranslate2Session


def main() -> None:
    """Answer the requests on stdin until it ends.

    Raises:
        SystemExit: If the Python package of TensorFlow has been imported for a SavedModel.
    """
    directory = sys.argv[1]
    saved = not is_ctranslate2(directory)  # CTranslate2 needs TensorFlow for some tokenizers
    if saved:
        _refuse_python_tensorflow()
    open_session: Callable[[str], _Session] = SavedModelSession if saved else CTranslate2Session
    answers = _take_stdout()
    session = functools.cache(lambda: open_session(directory))
    methods: dict[str, Callable[..., Any]] = {
        "op_support": lambda: op_support(directory),
        "signatures": lambda: _signatures(session()),
        "run": lambda signature, inputs: _run(session(), signature, inputs),
        "resident_memory": _resident_memory,
    }
    for line in sys.stdin:
        answer = _answer(methods, line)
        if saved:
            _refuse_python_tensorflow()
        print(json.dumps(answer), file=answers, flush=True)


def _answer(methods: dict[str, Callable[..., Any]], line: str) -> dict[str, Any]:
    request = json.loads(line)
    try:
        return {"result": methods[request.pop("method")](**request)}
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)}


def _signatures(session: _Session) -> dict[str, Any]:
    return {
        name: {
            "inputs": {key: info._asdict() for key, info in signature.inputs.items()},
            "outputs": {key: info._asdict() for key, info in signature.outputs.items()},
        }
        for name, signature in session.signatures.items()
    }


def _run(session: _Session, signature: str, inputs: _Inputs) -> dict[str, Any]:
    outputs = session.run(signature, _encoded(inputs))
    return {name: to_json(array) for name, array in outputs.items()}


def _resident_memory() -> int:
    """Return the resident memory of this process in bytes, or its peak if only that is known."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _encoded(inputs: _Inputs) -> dict[str, list[bytes]]:
    return {
        name: [value.encode("utf-8", "surrogateescape") for value in values]
        for name, values in inputs.items()
    }


def _take_stdout() -> TextIO:
    """Return the real stdout, and redirect the output of libraries to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _refuse_python_tensorflow() -> None:
    if "tensorflow" in sys.modules:
        sys.exit("Expected a process without the Python package of TensorFlow. It was imported.")


if __name__ == "__main__":
    main()

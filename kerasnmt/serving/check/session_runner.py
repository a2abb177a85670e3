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

from kerasnmt.extras import MissingPackageError
from kerasnmt.serving.check.json_arrays import to_json
from kerasnmt.serving.runtimes.registry import find_runtime
from kerasnmt.serving.runtimes.session import Session

_Inputs = dict[str, list[str]]


def main() -> None:
    """Answer the requests on stdin until it ends.

    Raises:
        SystemExit: If there is no export, or a package has been imported without which the session
            must run.
    """
    directory = sys.argv[1]
    match = find_runtime(directory)
    if match is None:
        sys.exit(f"Expected the folder of an export. Received: {directory}.")
    runtime, export = match
    _refuse(runtime.session_without)
    answers = _take_stdout()
    session = functools.cache(lambda: runtime.open(export))
    methods: dict[str, Callable[..., Any]] = {
        "op_support": lambda: runtime.op_support(export),
        "signatures": lambda: _signatures(session()),
        "run": lambda signature, inputs: _run(session(), signature, inputs),
        "resident_memory": _resident_memory,
    }
    for line in sys.stdin:
        answer = _answer(methods, line)
        _refuse(runtime.session_without)
        print(json.dumps(answer), file=answers, flush=True)


def _answer(methods: dict[str, Callable[..., Any]], line: str) -> dict[str, Any]:
    request = json.loads(line)
    try:
        return {"result": methods[request.pop("method")](**request)}
    except (RuntimeError, ValueError, MissingPackageError) as error:
        return {"error": str(error)}


def _signatures(session: Session) -> dict[str, Any]:
    return {
        name: {
            "inputs": {key: info._asdict() for key, info in signature.inputs.items()},
            "outputs": {key: info._asdict() for key, info in signature.outputs.items()},
        }
        for name, signature in session.signatures.items()
    }


def _run(session: Session, signature: str, inputs: _Inputs) -> dict[str, Any]:
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


def _refuse(package: str | None) -> None:
    if package in sys.modules:
        sys.exit(f"Expected a process without the Python package {package}. It was imported.")


if __name__ == "__main__":
    main()

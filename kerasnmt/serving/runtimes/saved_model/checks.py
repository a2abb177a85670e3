"""Checks of SavedModels that other exports do not have."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kerasnmt.serving.runtimes.runtime import refuse
from kerasnmt.serving.runtimes.saved_model.warmup import (
    MOST_WARMUP_REQUESTS,
    WARMUP_REQUESTS,
    decode_warmup_request,
)
from kerasnmt.serving.runtimes.version_folder import DESCRIPTION, read_description

# Function that loads a version, and keeps the last result.
_Load = Callable[[Path], Any]


def check_ops(export: Any) -> str:
    """Check that each op has a definition and a CPU kernel, so none needs Python or a GPU."""
    support = export.process.op_support()
    refuse([f"{op}: {reason}" for op, reason in support.items() if reason])
    return f"{len(support)} ops, each with a definition and a CPU kernel"


def check_warmup(export: Any) -> str:
    """Check that all requests of the warm-up file are answered, as a server does first."""
    path = export.path / WARMUP_REQUESTS
    if not path.exists():
        return "no warm-up requests: the first clients of a server will wait longer"
    records = _in_tensorflow(
        lambda tf: [*tf.data.TFRecordDataset(str(path)).as_numpy_iterator()],
        f"{path} cannot be read",
    )
    requests = [*map(decode_warmup_request, records)]
    if len(requests) > MOST_WARMUP_REQUESTS:
        raise RuntimeError(
            f"{len(requests)} warm-up requests, but a server takes at most {MOST_WARMUP_REQUESTS}"
        )
    for signature, inputs in requests:
        outputs = export.process.run(signature, inputs)
        if signature in export.names:
            size = len(next(iter(inputs.values())))
            refuse(export.contract.shape_problems(signature, outputs, size))
    names = ", ".join(dict.fromkeys(request.signature for request in requests))
    return f"{len(requests)} requests answered, for {names}"


def check_python(load: _Load, export: Any) -> str:
    """Check that TensorFlow in this process gives the same outputs."""
    loaded = load(export.path)

    def answers(tf: Any) -> dict[str, Any]:
        def answer(name: str) -> Any:
            columns = export.contract.columns(export.rows, name)
            inputs = {field: tf.constant(values) for field, values in columns.items()}
            return loaded.signatures[name](**inputs)

        return {name: answer(name) for name in export.names}

    problems = []
    for name, answer in _in_tensorflow(answers, "TensorFlow in Python cannot run it").items():
        outputs = {key: value.numpy() for key, value in answer.items()}
        differences = export.contract.differences(outputs, export.ask(name, export.rows))
        problems += [f"{name} {problem}" for problem in differences]
    refuse(problems)
    return "same outputs from TensorFlow in Python"


def check_description(load: _Load, export: Any) -> str:
    """Check that the description that clients read agrees with the graph."""
    written = read_description(export.path)
    if not written:
        raise RuntimeError(f"{export.path / DESCRIPTION} is missing; export again")
    in_graph = _settings(load(export.path))
    differing = sorted(
        name
        for name in in_graph.keys() | written.keys() - {"examples"}
        if in_graph.get(name) != written.get(name)
    )
    refuse(
        [
            f"{name} is {written.get(name)!r}, but {in_graph.get(name)!r} in the graph"
            for name in differing
        ]
    )
    return f"{len(in_graph)} settings agree with the graph"


def load_in_python(version: Path) -> Any:
    """Load a version with TensorFlow in this process.

    Raises:
        RuntimeError: If TensorFlow cannot load it.
        ValueError: If TensorFlow would confuse its tokenizers; see `load_saved_model`.
    """

    def load(_: Any) -> Any:
        from kerasnmt.serving.runtimes.saved_model.export import load_saved_model

        return load_saved_model(version)

    return _in_tensorflow(load, "TensorFlow in Python cannot load it")


def _settings(loaded: Any) -> dict[str, Any]:
    """Return the settings of the export, which the graph contains."""
    try:
        description = loaded.description  # an export of kerasnmt has this function
    except AttributeError as error:
        raise RuntimeError("the graph does not contain its settings; export again") from error
    return json.loads(description().numpy())


def _in_tensorflow(run: Callable[[Any], Any], problem: str) -> Any:
    """Call a function of TensorFlow in this process.

    Args:
        run: Function that takes the module `tensorflow`.
        problem: Beginning of the error message.

    Returns:
        The result of the function.

    Raises:
        RuntimeError: If TensorFlow raises an error.
    """
    import tensorflow as tf

    with suppress(ModuleNotFoundError):  # some machines do not have it
        import tensorflow_text  # noqa: F401  (registers its ops)

    try:
        with tf.device("/CPU:0"):  # like the child, because a GPU can round differently
            return run(tf)
    except (tf.errors.OpError, OSError, TypeError) as error:
        raise RuntimeError(f"{problem}: {error}") from error

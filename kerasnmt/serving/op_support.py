"""Whether a server could run the ops of a SavedModel, told without loading the model."""

from pathlib import Path

from kerasnmt.serving import c_api
from kerasnmt.serving.meta_graph import MetaGraph


def op_support(directory: str | Path) -> dict[str, str]:
    """Looks up every op of a SavedModel in the libraries of TensorFlow and tf-text.

    Args:
        directory: The folder that holds `saved_model.pb`.

    Returns:
        For each op of the graph and of its functions the reason why a CPU server cannot run it; an
        empty string where it can.

    Raises:
        ValueError: If the folder holds no SavedModel.
        RuntimeError: If the libraries cannot be found.
    """
    known = c_api.known_ops()
    return {op: _reason(op, known) for op in MetaGraph.from_saved_model(directory).ops}


def _reason(op: str, known: set[str]) -> str:
    if op not in known:
        return "no op definition"
    return "" if {"CPU", "DEFAULT"} & c_api.kernel_devices(op) else "no CPU kernel"

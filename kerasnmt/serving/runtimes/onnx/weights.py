"""Number formats of the weights in ONNX graphs."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kerasnmt.extras import extras
from kerasnmt.small_weights import as_float16, as_int8, is_matrix


def with_weights(graph: bytes, kind: str) -> bytes:
    """Return a graph whose matrices are stored in a number format.

    Operators convert them to float32, which ONNX Runtime does once when it loads the graph. The
    biases of the directions of a recurrent layer are no matrix.

    Args:
        graph: Serialized graph with float32 weights.
        kind: "float32", "float16" or "int8".

    Raises:
        ValueError: If a weight is too large for float16.
    """
    if kind == "float32":
        return graph
    with extras():
        import onnx
    model = onnx.load_from_string(graph)
    for inside in _graphs(model.graph):
        layers = [node for node in inside.node if node.op_type in ("GRU", "LSTM")]
        biases = {name for node in layers for name in node.input[3:4]}
        for weight in [*inside.initializer]:
            is_float = weight.data_type == onnx.TensorProto.FLOAT
            if not is_float or not is_matrix(weight.dims) or weight.name in biases:
                continue
            parts = KINDS[kind](onnx.numpy_helper.to_array(weight), weight.name)
            inside.initializer.remove(weight)
            names = [f"{weight.name}_{number}" for number in range(len(parts))]
            inside.initializer.extend(map(onnx.numpy_helper.from_array, parts, names))
            float_, make = onnx.TensorProto.FLOAT, onnx.helper.make_node
            if len(parts) == 1:
                nodes = [make("Cast", names, [weight.name], to=float_)]
            else:
                values = f"{weight.name}_float"
                nodes = [
                    make("Cast", names[:1], [values], to=float_),
                    make("Mul", [values, names[1]], [weight.name]),
                ]
            for node in reversed(nodes):
                inside.node.insert(0, node)
    return model.SerializeToString()


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph, and the graphs of loops in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


KINDS: dict[str, Callable[[np.ndarray, str], list[np.ndarray]]] = {
    "float32": lambda values, name: [values],
    "float16": lambda values, name: [as_float16(values, name, "Export with weights='float32'.")],
    "int8": lambda values, name: [*as_int8(values, name)],
}

"""The signatures and ops of a SavedModel, read from its encoded graph."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kerasnmt.serving.protocol.wire_format import fields, repeated, text

SERVE_TAG = "serve"

# The numbers of tensorflow/core/framework/types.proto that signatures of text and scores need.
DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    7: "string",
    9: "int64",
    10: "bool",
    19: "float16",
}


class TensorInfo(NamedTuple):
    """One input or output of a signature.

    Attributes:
        tensor: The tensor's name in the graph, as `operation:index`.
        dtype: Its dtype as NumPy writes it, `"string"`, or `"DataType n"` for any other.
        shape: Its dimensions, -1 where unknown; `None` for an unknown rank.
    """

    tensor: str
    dtype: str
    shape: list[int] | None


class Signature(NamedTuple):
    """The inputs and outputs of a signature, by name."""

    inputs: dict[str, TensorInfo]
    outputs: dict[str, TensorInfo]


class MetaGraph:
    """A graph with its signatures, read from an encoded `MetaGraphDef`.

    Args:
        message: The encoded `MetaGraphDef`.

    Attributes:
        signatures: The signatures that clients can name.
        ops: The sorted names of the ops of the graph and of its functions, without calls of the
            graph's own functions.

    Raises:
        ValueError: If the bytes are not an encoded message.
    """

    def __init__(self, message: bytes | memoryview) -> None:
        # TensorFlow keeps its initialisers as signatures too, under names with two underscores.
        self.signatures = {
            name: signature
            for name, signature in read_signatures(message, 5).items()
            if not name.startswith("__saved_model")
        }
        self.ops = _ops(message)

    @classmethod
    def from_saved_model(cls, directory: str | Path) -> "MetaGraph":
        """Read the graph that a server would load from the folder of a SavedModel.

        Args:
            directory: The folder that holds `saved_model.pb`.

        Returns:
            The graph with the tag `serve`.

        Raises:
            ValueError: If the file is missing, is not a SavedModel or has no graph with that tag.
        """
        path = Path(directory) / "saved_model.pb"
        if not path.is_file():
            raise ValueError(
                "Expected the folder of a SavedModel, with a file saved_model.pb. "
                f"Received: directory={str(directory)!r}"
            )
        try:
            for graph in repeated(path.read_bytes(), 2):
                tags = [
                    str(tag, "utf-8") for info in repeated(graph, 1) for tag in repeated(info, 4)
                ]
                if SERVE_TAG in tags:
                    return cls(graph)
        except (ValueError, TypeError) as error:
            raise ValueError(f"Expected a SavedModel in {path}, but it cannot be read") from error
        raise ValueError(f"Expected a graph with the tag {SERVE_TAG!r} in {path}: export it again")


def read_signatures(message: bytes | memoryview, number: int) -> dict[str, Signature]:
    """Read a field of an encoded message that maps names to signatures.

    Args:
        message: The encoded message, such as a `MetaGraphDef` or a `SignatureDefMap`.
        number: The field's number.

    Returns:
        The signatures by name.

    Raises:
        ValueError: If the bytes are not an encoded message.
    """
    return {name: _signature(value) for name, value in _map(message, number)}


def _map(message: bytes | memoryview, number: int) -> Iterator[tuple[str, memoryview]]:
    """Yield the entries of a map from text to messages."""
    # Sorted, because TensorFlow writes maps in any order.
    for entry in sorted(repeated(message, number), key=lambda entry: text(entry, 1)):
        yield text(entry, 1), dict(fields(entry)).get(2, memoryview(b""))


def _signature(message: memoryview) -> Signature:
    inputs = {name: _tensor_info(value) for name, value in _map(message, 1)}
    outputs = {name: _tensor_info(value) for name, value in _map(message, 2)}
    return Signature(inputs, outputs)


def _tensor_info(message: memoryview) -> TensorInfo:
    known = dict(fields(message))
    number = known.get(2, 0)
    dtype = DTYPES.get(number, f"DataType {number}")
    return TensorInfo(text(message, 1), dtype, _shape(known.get(3, memoryview(b""))))


def _shape(message: memoryview) -> list[int] | None:
    if any(repeated(message, 3)):  # unknown_rank
        return None
    sizes = [dict(fields(dimension)).get(1, 0) for dimension in repeated(message, 2)]
    # -1 is encoded as an unsigned number of 64 bits.
    return [-1 if size >= 1 << 63 else size for size in sizes]


def _ops(message: bytes | memoryview) -> list[str]:
    nodes: list[memoryview] = []
    functions: set[str] = set()
    for graph in repeated(message, 2):
        nodes += repeated(graph, 1)
        for library in repeated(graph, 2):
            for function in repeated(library, 1):
                nodes += repeated(function, 3)
                functions.update(text(definition, 1) for definition in repeated(function, 1))
    return sorted({text(node, 2) for node in nodes} - functions)

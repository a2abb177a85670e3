"""Signatures and ops of a SavedModel, from its encoded graph."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from kerasnmt.serving.protocol.wire_format import fields, repeated, text

SERVE_TAG = "serve"
_SENTENCEPIECE = b"SentencepieceOp"

# Numbers of tensorflow/core/framework/types.proto for the signatures of text and scores.
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
    """Input or output of a signature.

    Attributes:
        tensor: Name of the tensor in the graph, `operation:index`.
        dtype: Name of the dtype in NumPy, `"string"`, or `"DataType n"` for any other dtype.
        shape: Dimensions, with -1 for an unknown one, or None for an unknown rank.
    """

    tensor: str
    dtype: str
    shape: list[int] | None


class Signature(NamedTuple):
    """Inputs and outputs of a signature, by name."""

    inputs: dict[str, TensorInfo]
    outputs: dict[str, TensorInfo]


class MetaGraph:
    """Graph with its signatures, from an encoded `MetaGraphDef`.

    Args:
        message: Encoded `MetaGraphDef`.

    Attributes:
        signatures: Dict of the signatures that clients can use.

    Raises:
        ValueError: If the bytes are not an encoded message.
    """

    def __init__(self, message: bytes | memoryview) -> None:
        # TensorFlow also stores its initializers as signatures, whose names have two underscores.
        self.signatures = {
            name: signature
            for name, signature in read_signatures(message, 5).items()
            if not name.startswith("__saved_model")
        }
        self._functions, self._nodes = _functions_and_nodes(message)
        self._mentions_sentencepiece = _SENTENCEPIECE in bytes(message)

    @cached_property
    def ops(self) -> list[str]:
        """Sorted names of the ops of the graph and its functions, without calls of these."""
        return sorted({text(node, 2) for node in self._nodes} - self._functions)

    @cached_property
    def collides(self) -> bool:
        """Whether TensorFlow in Python would take one SentencePiece model for another."""
        models: dict[bytes, bytes] = {}
        for node in self._nodes if self._mentions_sentencepiece else ():
            if text(node, 2).encode() == _SENTENCEPIECE:
                # The attributes are messages, with a string as field 2.
                strings = {
                    name: bytes(dict(fields(value)).get(2, b"")) for name, value in _map(node, 5)
                }
                model = strings.get("model", b"")
                if models.setdefault(strings.get("shared_name", b""), model) != model:
                    return True
        return False

    @classmethod
    def from_saved_model(cls, directory: str | Path) -> "MetaGraph":
        """Read the graph that a server would load from the folder of a SavedModel.

        Args:
            directory: Path of the folder with `saved_model.pb`.

        Returns:
            The graph with the tag `serve`.

        Raises:
            ValueError: If the file is missing, is not a SavedModel or has no graph with this tag.
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
            raise ValueError(f"Expected a SavedModel in {path}. It cannot be read.") from error
        raise ValueError(f"Expected a graph with the tag {SERVE_TAG!r} in {path}. Export it again.")


def read_signatures(message: bytes | memoryview, number: int) -> dict[str, Signature]:
    """Read a field of an encoded message that maps names to signatures.

    Args:
        message: Encoded message, such as a `MetaGraphDef` or a `SignatureDefMap`.
        number: Number of the field.

    Returns:
        A dict of the signatures.

    Raises:
        ValueError: If the bytes are not an encoded message.
    """
    return {name: _signature(value) for name, value in _map(message, number)}


def _map(message: bytes | memoryview, number: int) -> Iterator[tuple[str, memoryview]]:
    """Yield the entries of a map from text to messages, sorted."""
    # TensorFlow writes maps in any order.
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
    # -1 is encoded as an unsigned number with 64 bits.
    return [-1 if size >= 1 << 63 else size for size in sizes]


def _functions_and_nodes(message: bytes | memoryview) -> tuple[set[str], list[memoryview]]:
    """Return the names of the functions, and the nodes of the graph and its functions."""
    nodes: list[memoryview] = []
    functions: set[str] = set()
    for graph in repeated(message, 2):
        nodes += repeated(graph, 1)
        for library in repeated(graph, 2):
            for function in repeated(library, 1):
                nodes += repeated(function, 3)
                functions.update(text(definition, 1) for definition in repeated(function, 1))
    return functions, nodes

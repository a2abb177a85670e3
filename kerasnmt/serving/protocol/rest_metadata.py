"""Signatures in the JSON of TF Serving's metadata route."""

from collections.abc import Mapping
from typing import Any

from kerasnmt.serving.protocol.meta_graph import DTYPES, Signature, TensorInfo

# Names of tensorflow/core/framework/types.proto.
_NAMES = {name: f"DT_{name.upper()}" for name in DTYPES.values()}
_NAMES |= {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE"}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


def write_metadata(name: str, version: int, signatures: Mapping[str, Signature]) -> dict[str, Any]:
    """Return the answer to `GET /v1/models/NAME/metadata`.

    Args:
        name: Name of the model.
        version: Version of the model.
        signatures: Dict of the model's signatures.

    Returns:
        A dict for JSON. Integers are strings, because protobuf writes 64-bit integers as strings in
        JSON.
    """
    written = {
        key: {
            "inputs": {name: _write(info) for name, info in signature.inputs.items()},
            "outputs": {name: _write(info) for name, info in signature.outputs.items()},
            "method_name": "tensorflow/serving/predict",
        }
        for key, signature in signatures.items()
    }
    return {
        "model_spec": {"name": name, "signature_name": "", "version": str(version)},
        "metadata": {"signature_def": {"signature_def": written}},
    }


def read_metadata(answer: Any) -> dict[str, Signature]:
    """Read the signatures in the answer to `GET /v1/models/NAME/metadata`.

    Args:
        answer: Decoded JSON of the server's answer.

    Returns:
        A dict of the signatures. A dtype that `MetaGraph` does not know keeps its protobuf name.

    Raises:
        ValueError: If the answer is not the metadata of a model.
    """
    try:
        return {
            name: Signature(
                {key: _read(info) for key, info in signature.get("inputs", {}).items()},
                {key: _read(info) for key, info in signature.get("outputs", {}).items()},
            )
            for name, signature in answer["metadata"]["signature_def"]["signature_def"].items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError("Expected the metadata of a model. Received: something else") from error


def _write(info: TensorInfo) -> dict[str, Any]:
    sizes = [{"size": str(size), "name": ""} for size in info.shape or []]
    shape = {"dim": sizes, "unknown_rank": info.shape is None}
    return {"dtype": _NAMES[info.dtype], "tensor_shape": shape, "name": info.tensor}


def _read(info: dict[str, Any]) -> TensorInfo:
    shape = info["tensor_shape"]
    sizes = None if shape.get("unknown_rank") else [int(dim["size"]) for dim in shape["dim"]]
    return TensorInfo(info.get("name", ""), _DTYPES.get(info["dtype"], info["dtype"]), sizes)

"""Signatures and tags in the JSON of TF Serving's metadata route."""

from collections.abc import Mapping
from typing import Any

from kerasnmt.serving.protocol.meta_graph import DTYPES, Signature, TensorInfo

# Names of tensorflow/core/framework/types.proto.
_NAMES = {name: f"DT_{name.upper()}" for name in DTYPES.values()}
_NAMES |= {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE"}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
# Keys of a description; see `kerasnmt.tasks.TranslationTask`.
_TAGS = ("source_tags", "default_tags")


def write_metadata(
    name: str, version: int, signatures: Mapping[str, Signature], description: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answer to `GET /v1/models/NAME/metadata`.

    Args:
        name: Name of the model.
        version: Version of the model.
        signatures: Dict of the model's signatures.
        description: Description of the model, or an empty dict.

    Returns:
        A dict for JSON. Integers are strings, because protobuf writes 64-bit integers as strings in
        JSON. `kerasnmt` in its `metadata` has the tags of the description; TF Serving has no such
        key, and a model without tags has none either.
    """
    written = {
        key: {
            "inputs": {name: _write(info) for name, info in signature.inputs.items()},
            "outputs": {name: _write(info) for name, info in signature.outputs.items()},
            "method_name": "tensorflow/serving/predict",
        }
        for key, signature in signatures.items()
    }
    metadata = {"signature_def": {"signature_def": written}}
    if description.get("source_tags"):
        metadata["kerasnmt"] = {key: description[key] for key in _TAGS if key in description}
    return {
        "model_spec": {"name": name, "signature_name": "", "version": str(version)},
        "metadata": metadata,
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


def read_tags(answer: Any) -> dict[str, Any]:
    """Return the tags in the metadata of a model, or an empty dict; see `write_metadata`."""
    tags = answer["metadata"].get("kerasnmt", {})
    return {name: tags[name] for name in _TAGS if name in tags}


def _write(info: TensorInfo) -> dict[str, Any]:
    sizes = [{"size": str(size), "name": ""} for size in info.shape or []]
    shape = {"dim": sizes, "unknown_rank": info.shape is None}
    return {"dtype": _NAMES[info.dtype], "tensor_shape": shape, "name": info.tensor}


def _read(info: dict[str, Any]) -> TensorInfo:
    shape = info["tensor_shape"]
    sizes = None if shape.get("unknown_rank") else [int(dim["size"]) for dim in shape["dim"]]
    return TensorInfo(info.get("name", ""), _DTYPES.get(info["dtype"], info["dtype"]), sizes)

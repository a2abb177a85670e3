"""Requests that warm up a model before its server reports ready.

When TF Serving loads a version, it replays the records of
`assets.extra/tf_serving_warmup_requests`, a TFRecord file of `PredictionLog`. So the first client
does not wait for the work of TensorFlow in the first run of a signature.

Source: `tensorflow_serving/apis/prediction_log.proto`, `predict.proto`, `model.proto`;
`tensorflow/core/framework/tensor.proto`, `types.proto`.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.protocol.wire_format import field, repeated, text

WARMUP_REQUESTS = Path("assets.extra", "tf_serving_warmup_requests")
MOST_WARMUP_REQUESTS = 1000  # a server rejects a version with more

_STRING = 7  # DT_STRING


class WarmupRequest(NamedTuple):
    """Request of a warm-up file.

    Attributes:
        signature: Name of the signature.
        inputs: Dict with the batch of each input, as bytes.
    """

    signature: str
    inputs: dict[str, list[bytes]]


def warmup_requests(names: Iterable[str], contract: ExportContract) -> Iterator[WarmupRequest]:
    """Yield requests of several sizes for each signature.

    Args:
        names: Names of the signatures.
        contract: Contract of the export.
    """
    for name in names:
        for batch in contract.warmup_batches():
            size = len(batch[contract.inputs[0]])
            yield WarmupRequest(name, {**contract.further_columns(name, size), **batch})


def encode_warmup_request(request: WarmupRequest, model: str) -> bytes:
    """Encode a request as a `PredictionLog`.

    Args:
        request: Request to encode.
        model: Name of the model on the server.

    Returns:
        The encoded message, which is one record of the file.
    """
    model_spec = field(1, model) + field(3, request.signature)
    predict_request = field(1, model_spec)
    for name, texts in request.inputs.items():
        shape = field(2, field(1, len(texts)))
        tensor = field(1, _STRING) + field(2, shape)
        tensor += b"".join(field(8, value) for value in texts)
        predict_request += field(2, field(1, name) + field(2, tensor))
    return field(6, field(1, predict_request))  # predict_log.request


def decode_warmup_request(record: bytes) -> WarmupRequest:
    """Decode a `PredictionLog`, like a server.

    Args:
        record: One record of the file.

    Returns:
        The request.

    Raises:
        ValueError: If the record is not a `PredictionLog` with a request, or its inputs are not
            strings `[batch]` with the same batch size.
    """
    try:
        (predict_log,) = repeated(record, 6)
        (request,) = repeated(predict_log, 1)
        (model_spec,) = repeated(request, 1)
        inputs = dict(map(_input, repeated(request, 2)))
        if len({*map(len, inputs.values())}) != 1:
            raise ValueError("no inputs, or different batch sizes")
        return WarmupRequest(text(model_spec, 3) or "serving_default", inputs)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "Expected a PredictionLog with a request whose inputs are strings [batch]. "
            "Received: another record"
        ) from error


def _input(named_input: memoryview) -> tuple[str, list[bytes]]:
    """Read the name of an input, and its batch."""
    (tensor,) = repeated(named_input, 2)
    (shape,) = repeated(tensor, 2)
    sizes = [repeated(size, 1) for size in repeated(shape, 2)]
    texts = [bytes(value) for value in repeated(tensor, 8)]
    if (repeated(tensor, 1), sizes) != ([_STRING], [[len(texts)]]):
        raise ValueError("not strings [batch]")
    return text(named_input, 1), texts

"""Client of a model server over gRPC."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    model_pb2,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from kerasnmt.serving.client.serving_client import ServingClient, TransientError
from kerasnmt.serving.protocol.meta_graph import Signature, read_signatures

_BUSY = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)
_OPTIONS = (
    ("grpc.max_receive_message_length", -1),  # the attention of a large batch exceeds 4 MiB
    ("grpc.initial_reconnect_backoff_ms", 100),  # `ServingClient` waits between tries
    ("grpc.max_reconnect_backoff_ms", 1000),
)


class GrpcClient(ServingClient):
    """Client of a model on TF Serving's `PredictionService`; see `ServingClient`.

    It needs the extra `serve`, whose message classes import TensorFlow. The channel is not
    encrypted.

    Args:
        server: Address of the server, `grpc://host:port`.
        model: Name of the model on the server.
        version: Version of the model, or None for the newest.
        **options: Options of `ServingClient`.
    """

    def __init__(self, server: str, model: str, version: int | None = None, **options) -> None:
        target = server.removeprefix("grpc://").rstrip("/")
        self._channel = grpc.insecure_channel(target, options=_OPTIONS)
        self._service = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)
        super().__init__(server, model, version, **options)

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def _declared(self) -> tuple[Mapping[str, Signature], dict[str, Any]]:
        request = get_model_metadata_pb2.GetModelMetadataRequest(
            model_spec=self._model_spec(), metadata_field=["signature_def"]
        )
        answer = self._send(self._service.GetModelMetadata, request)
        return read_signatures(answer.metadata["signature_def"].value, 1), {}

    def _predict(
        self, signature: str, inputs: Mapping[str, Sequence[str | bytes]]
    ) -> Mapping[str, np.ndarray]:
        request = predict_pb2.PredictRequest(
            model_spec=self._model_spec(signature_name=signature),
            inputs={
                name: tf.make_tensor_proto(values, tf.string) for name, values in inputs.items()
            },
        )
        answer = self._send(self._service.Predict, request)
        try:
            return {name: tf.make_ndarray(tensor) for name, tensor in answer.outputs.items()}
        except (TypeError, ValueError) as error:
            raise self._refused(f"an answer that is not of {signature!r}") from error

    def _model_spec(self, **fields) -> model_pb2.ModelSpec:
        spec = model_pb2.ModelSpec(name=self.model, **fields)
        if self.version is not None:
            spec.version.value = self.version
        return spec

    def _send(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return method(request, timeout=self._timeout)
        except grpc.RpcError as error:
            said = f"{error.code().name}: {error.details()}"
            if error.code() in _BUSY:
                raise TransientError(said) from error
            raise self._refused(said) from error

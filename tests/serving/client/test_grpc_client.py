import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from kerasnmt.serving import GrpcClient, TransientError, Translator
from tests.serving.conftest import assert_all_signatures

TEXTS = ["two dogs run .", "a man reads .", "dog", "", "a dog runs . a man runs .", "   ", "é 🙂"]
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


class Service(prediction_service_pb2_grpc.PredictionServiceServicer):
    """Service of an export, with the given failures before it works."""

    def __init__(self, folder, session):
        saved_model = (folder / "3" / "saved_model.pb").read_bytes()
        (graph,) = saved_model_pb2.SavedModel.FromString(saved_model).meta_graphs
        self.signatures = dict(graph.signature_def)
        self.session = session
        self.faults, self.requests = [], []
        self.go_on = threading.Event()
        self.changes = {}

    def GetModelMetadata(self, request, context):
        self._find(request, context)
        assert request.metadata_field == ["signature_def"]
        signatures = get_model_metadata_pb2.SignatureDefMap(signature_def=self.signatures)
        answer = get_model_metadata_pb2.GetModelMetadataResponse(model_spec=request.model_spec)
        answer.metadata["signature_def"].Pack(signatures)
        return answer

    def Predict(self, request, context):
        self._find(request, context)
        name = request.model_spec.signature_name
        inputs = {field: tf.make_ndarray(values) for field, values in request.inputs.items()}
        outputs = {**self.session.run(name, inputs), **self.changes}
        answer = predict_pb2.PredictResponse(model_spec=request.model_spec)
        for key, value in outputs.items():
            if isinstance(value, np.ndarray):
                value = tf.make_tensor_proto(value)
            if value is not None:
                answer.outputs[key].CopyFrom(value)
        return answer

    def _find(self, request, context):
        self.requests.append(request)
        fault = self.faults.pop(0) if self.faults else None
        if fault == "silence":
            self.go_on.wait(60)
        elif fault is not None:
            context.abort(fault, "come back")
        spec = request.model_spec
        if spec.name != "tiny" or (spec.HasField("version") and spec.version.value != 3):
            context.abort(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: {spec.name}")


@pytest.fixture
def service(served_folder, served_session):
    return Service(served_folder, served_session)


@pytest.fixture
def url(service):
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool)
        prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield f"grpc://127.0.0.1:{port}"
        service.go_on.set()
        server.stop(None).wait()


@pytest.fixture
def client(url):
    with GrpcClient(url, "tiny", timeout=60, wait=0.0) as client:
        yield client


def test_every_signature(client, service, expected):
    assert client.description == {"beam_size": 3}
    translator = Translator(client)
    assert translator.translate(TEXTS, batch_size=2) == expected.translate(TEXTS)
    assert not service.requests[-1].model_spec.HasField("version")
    assert_all_signatures(translator, expected, TEXTS)


def test_a_version(url, service, expected):
    with GrpcClient(f"{url}/", "tiny", 3) as client:
        assert Translator(client).translate(TEXTS) == expected.translate(TEXTS)
    assert [request.model_spec.version.value for request in service.requests] == [3, 3]


def test_an_answer_of_more_than_four_mebibytes(client, service):
    tokens = np.full([2, 1000], b"a", object)
    weights = np.ones([2, 1000, 1000], np.float32)
    service.changes = {"source_tokens": tokens, "target_tokens": tokens, "weights": weights}
    assert client.signatures["attention"](text=["x", "y"])["weights"].shape == (2, 1000, 1000)


def test_what_may_pass_is_tried_again(client, service, expected):
    service.faults = [UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED]
    service.faults += [grpc.StatusCode.DEADLINE_EXCEEDED]
    assert Translator(client).translate(TEXTS) == expected.translate(TEXTS)
    assert len(service.requests) == 1 + 4


@pytest.mark.parametrize(
    ("fault", "reason"), [(UNAVAILABLE, "UNAVAILABLE: come back"), ("silence", "DEADLINE_EXCEEDED")]
)
def test_but_not_for_ever(url, service, fault, reason):
    service.faults = [fault] * 9
    with pytest.raises(TransientError) as caught:
        GrpcClient(url, "tiny", timeout=0.3, tries=3, wait=0.0)
    message = str(caught.value)
    assert message.startswith(f"Expected an answer from {url}. Received: {reason}")
    assert message.endswith("; 3 tries.") and len(service.requests) == 3


def test_nobody_is_there(unused_port):
    url = f"grpc://127.0.0.1:{unused_port}"
    with pytest.raises(TransientError, match=r"UNAVAILABLE: .*Connection refused.*; 2 tries\.$"):
        GrpcClient(url, "tiny", tries=2, wait=0.0)


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.FAILED_PRECONDITION])
def test_a_refusal_is_not_tried_again(client, service, code):
    service.faults = [code]
    with pytest.raises(ValueError, match=f"Received: {code.name}: come back$"):
        client.signatures["serving_default"](text=["dog"])
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    ("model", "version", "what"),
    [
        ("other", None, "'other'"),
        ("tiny", 4, "'tiny', version 4"),
        ("tiny", 0, "'tiny', version 0"),
    ],
)
def test_no_such_model(url, model, version, what):
    with pytest.raises(ValueError, match="NOT_FOUND: Servable not found") as caught:
        GrpcClient(url, model, version)
    assert str(caught.value).startswith(f"Expected {url} to serve the model {what}. Received:")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": None}, "no output 'score'"),
        ({"score": np.zeros(3, np.float32)}, "score has shape (3,)"),
        ({"score": np.zeros(2)}, "score is not of dtype float32"),
        ({"translation": np.zeros(2, np.float32)}, "translation is not of dtype string"),
    ],
)
def test_answers_that_are_not_what_was_asked(client, service, changes, message):
    service.changes = changes
    with pytest.raises(ValueError, match="to serve the model 'tiny'") as caught:
        client.signatures["serving_default"](text=["x", "y"])
    assert message in str(caught.value)


def test_a_tensor_that_is_cut_short(client, service):
    tensor = tf.make_tensor_proto(np.zeros(2, np.float32))
    tensor.tensor_shape.dim[0].size = 3
    service.changes = {"score": tensor}
    with pytest.raises(ValueError, match="an answer that is not of 'serving_default'"):
        client.signatures["serving_default"](text=["x", "y"])


def test_what_is_no_export_of_kerasnmt(url, service):
    service.signatures = {"serving_default": meta_graph_pb2.SignatureDef()}
    with pytest.raises(
        ValueError, match="is not an export of kerasnmt: serving_default input: names"
    ):
        GrpcClient(url, "tiny")
    service.signatures = {}
    with pytest.raises(
        ValueError, match="not an export of kerasnmt: no signature 'serving_default'"
    ):
        GrpcClient(url, "tiny")

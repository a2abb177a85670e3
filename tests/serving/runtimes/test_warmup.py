import pytest
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from kerasnmt.serving.runtimes.saved_model.warmup import (
    MOST_WARMUP_REQUESTS,
    WarmupRequest,
    decode_warmup_request,
    encode_warmup_request,
    warmup_requests,
)


@pytest.mark.parametrize(
    "inputs",
    [
        {"text": [b"two dogs"]},
        {"text": [b"", "né".encode(), b"\xff\0"]},
        {"text": [b"x" * 300] * 8},
        {"story": [b"a\nb", b""], "question": [b"c?", b"\xff"]},
    ],
)
def test_requests_are_what_the_classes_of_the_server_write(inputs):
    import tensorflow as tf

    log = PredictionLog()
    request = log.predict_log.request
    request.model_spec.name, request.model_spec.signature_name = "en_de", "n_best"
    for name, texts in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(texts, tf.string, [len(texts)]))
    expected = WarmupRequest("n_best", inputs)
    assert PredictionLog.FromString(encode_warmup_request(expected, "en_de")) == log
    assert decode_warmup_request(log.SerializeToString()) == expected
    request.model_spec.signature_name = ""
    assert decode_warmup_request(log.SerializeToString()).signature == "serving_default"
    if "story" in inputs:  # another batch
        request.inputs["story"].CopyFrom(tf.make_tensor_proto([b"a"], tf.string, [1]))
        with pytest.raises(ValueError, match="whose inputs are"):
            decode_warmup_request(log.SerializeToString())


def other(change):
    """A request that is not a text with one axis."""
    log = PredictionLog.FromString(
        encode_warmup_request(WarmupRequest("n_best", {"text": [b"a"]}), "x")
    )
    change(log.predict_log.request)
    return log.SerializeToString()


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\xff",
        PredictionLog().SerializeToString(),
        other(lambda request: request.inputs["text"].string_val.append(b"b")),
        other(lambda request: request.inputs["text"].tensor_shape.dim.add(size=1)),
        other(lambda request: setattr(request.inputs["text"], "dtype", 3)),
        other(lambda request: request.inputs["more"].string_val.append(b"b")),
        other(lambda request: request.inputs.clear()),
        other(lambda request: request.ClearField("model_spec")),
    ],
    # With names, because protobuf writes a map in any order.
    ids=[
        *("nothing", "no message", "no request", "more texts", "two axes", "another dtype"),
        *("another input", "no inputs", "no model"),
    ],
)
def test_other_records_are_refused(record):
    with pytest.raises(ValueError, match="a PredictionLog with a request whose inputs are"):
        decode_warmup_request(record)


def test_requests_of_many_sizes(word_module):
    requests = list(warmup_requests(word_module.signatures, word_module.contract))
    assert len(requests) == 36 < MOST_WARMUP_REQUESTS
    sizes = [(size, words) for size in (1, 8, 64) for words in (1, 8, 32)]
    for number, signature in enumerate(["serving_default", "n_best", "with_terms", "attention"]):
        found = requests[9 * number : 9 * number + 9]
        assert {request.signature for request in found} == {signature}
        batches = [inputs["text"] for _, inputs in found]
        assert [(len(texts), len(texts[0].split())) for texts in batches] == sizes
        assert all(len({*texts}) == 1 for texts in batches)
        if signature == "with_terms":
            lines = [inputs["terms"] for _, inputs in found]
            assert [*map(len, lines)] == [*map(len, batches)]
            assert lines[0] == [b""] and len({*lines[-1]}) > 3

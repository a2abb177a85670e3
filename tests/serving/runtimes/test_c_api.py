import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kerasnmt.serving.check.json_arrays import from_json, to_json
from kerasnmt.serving.check.session_process import SessionProcess
from kerasnmt.serving.runtimes.saved_model import c_api
from kerasnmt.serving.runtimes.saved_model.c_api import op_support
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def session(saved_model):
    with SavedModelSession(saved_model) as session:
        yield session


@pytest.fixture(scope="module")
def process(saved_model):
    with SessionProcess(saved_model) as process:
        yield process


def child(script, *arguments):
    """Run a script in a new Python process."""
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.array([[1.1, -2.0], [2e-45, -np.inf]], np.float32), "float32"),
        (np.array([[1.5], [3.0]], np.float32).T, "float32"),
        (np.array([[[1], [-2]]], np.int32), "int32"),
        (np.array([2**40], np.int64), "int64"),
        (np.array(True), "bool"),
        (np.zeros([0, 3], np.float32), "float32"),
        (np.array([[b"", b"\xff\x00z"], ["né".encode(), b"x" * 1000]], object), "string"),
        (np.array([], object), "string"),
    ],
)
def test_arrays_come_back_as_they_were(value, dtype):
    """From a tensor of the C API, and from JSON."""
    tensor = c_api.new_tensor(value, dtype)
    found = [c_api.read_tensor(tensor), from_json(json.loads(json.dumps(to_json(value))))]
    c_api.library().TF_DeleteTensor(tensor)
    for back in found:
        assert back.dtype == value.dtype
        np.testing.assert_array_equal(back, value)


def test_unknown_dtypes_and_tensors_are_errors(session):
    with pytest.raises(ValueError, match=r"Received: dtype='DataType 21'"):
        c_api.new_tensor([1], "DataType 21")
    with pytest.raises(RuntimeError, match="no operation for the tensor 'nowhere:0'"):
        c_api.find_outputs(session._graph, ["nowhere:0"])


def test_session_runs_a_signature(session):
    outputs = session.run("serving_default", {"text": ["hello you", b"\xff" * 30, ""]})
    assert outputs["echo"].tolist() == [b"hello you", b"\xff" * 30, b""]
    assert outputs["words"].tolist() == [[b"bonjour", b"?"], [b"?", b""], [b"", b""]]
    assert outputs["lengths"].tolist() == [2, 1, 0]
    assert outputs["score"].tolist() == [9.5, 30.5, 0.5]
    assert outputs["score"].dtype == np.float32
    assert outputs["lengths"].dtype == np.int32
    assert session.run("double", {"ids": [[1, 2]]})["ids"].tolist() == [[2, 4]]


def test_session_runs_an_empty_batch(session):
    outputs = session.run("serving_default", {"text": []})
    assert outputs["echo"].shape == outputs["score"].shape == (0,)


def test_session_errors(session, tmp_path):
    with pytest.raises(ValueError, match=r"\['double', 'serving_default'\]. Received: signature="):
        session.run("serve", {"text": ["a"]})
    with pytest.raises(ValueError, match=r"inputs \['text'\] .* Received: inputs=\['texts'\]"):
        session.run("serving_default", {"texts": ["a"]})
    with pytest.raises(RuntimeError, match="no negative ids, please"):
        session.run("double", {"ids": [[1, -2]]})
    with pytest.raises(RuntimeError, match="Could not find SavedModel"):
        SavedModelSession(tmp_path)


def test_closed_session_says_so(saved_model):
    session = SavedModelSession(saved_model)
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="It was closed"):
        session.run("serving_default", {"text": ["a"]})


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory from /proc")
def test_memory_stays_flat_without_python_tensorflow(saved_model):
    # A leak of the strings of one side would be 1.6 MB a request, 160 MB in all. Small strings show
    # nothing: they fit into what loading has freed.
    script = """
import sys
from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession
with SavedModelSession(sys.argv[1]) as session:
    def run(times):
        for _ in range(times):
            session.run("serving_default", {"text": ["x" * 100_000] * 16})
        return int(open("/proc/self/statm").read().split()[1])
    print(-run(50) + run(100), "tensorflow" in sys.modules)
"""
    result = child(script, saved_model)
    assert result.returncode == 0, result.stderr
    pages, imported = result.stdout.split()
    assert int(pages) < 40_000_000 / os.sysconf("SC_PAGESIZE")
    assert imported == "False"


def test_runner_refuses_python_tensorflow(saved_model):
    script = """
import sys, types
from kerasnmt.serving.check import session_runner
sys.modules["tensorflow"] = types.ModuleType("tensorflow")
session_runner.main()
"""
    result = child(script, saved_model)
    assert result.returncode == 1
    assert "Expected a process without the Python package tensorflow" in result.stderr


def test_process_answers_as_the_session(process, session):
    texts = ["hello you", b"\xff", "né"]
    outputs = process.run("serving_default", {"text": texts})
    expected = session.run("serving_default", {"text": texts})
    assert outputs.keys() == expected.keys()
    for name in expected:
        assert outputs[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(outputs[name], expected[name])
    assert process.signatures == session.signatures
    with pytest.raises(RuntimeError, match="Received: signature='n_best'"):
        process.run("n_best", {"text": ["a"]})  # and the process lives on:
    assert process.run("serving_default", {"text": ["a"]})["lengths"].tolist() == [1]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory from /proc")
def test_process_tells_its_memory(process):
    _ = process.signatures
    lines = Path(f"/proc/{process._process.pid}/status").read_text().splitlines()
    (resident,) = (int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))
    assert process.resident_memory() == pytest.approx(resident, rel=0.05)
    assert resident > 50_000_000  # The libraries are in it.


def test_op_support_tells_each_op(process, saved_model, monkeypatch):
    support = process.op_support()
    assert support["TFText>WhitespaceTokenizeWithOffsetsV2"] == ""
    assert not any(support.values())
    known = c_api.known_ops()
    monkeypatch.setattr(c_api, "known_ops", lambda: known - {"HashTableV2"})
    monkeypatch.setattr(
        c_api, "kernel_devices", lambda op: {"GPU"} if op == "LookupTableFindV2" else {"CPU"}
    )
    wrong = {op: reason for op, reason in op_support(saved_model).items() if reason}
    assert wrong == {"LookupTableFindV2": "no CPU kernel", "HashTableV2": "no op definition"}


@pytest.mark.thorough("writes one more SavedModel; the test above makes ops unknown")
def test_python_function_has_no_kernel_in_a_server(tmp_path):
    import tensorflow as tf

    module = tf.Module()
    module.copy = tf.function(
        lambda text: {"copy": tf.py_function(np.copy, [text], tf.string)},
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
    )
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": module.copy})
    with SessionProcess(tmp_path) as process:
        assert process.op_support()["EagerPyFunc"] == "no CPU kernel"
        with pytest.raises(RuntimeError, match="No OpKernel was registered"):
            process.run("serving_default", {"text": ["a"]})


def test_crash_and_timeout_of_the_process_are_errors(saved_model):
    with SessionProcess(saved_model) as process:
        process._process.send_signal(signal.SIGSEGV)
        process._process.wait()
        for _ in range(2):
            with pytest.raises(RuntimeError, match=r"crashed with SIGSEGV.*\(request 'run'\)"):
                process.run("serving_default", {"text": ["a"]})
    with (
        SessionProcess(saved_model, timeout=0.01) as process,
        pytest.raises(RuntimeError, match=r"gave no answer within 0\.01 s"),
    ):
        _ = process.signatures


def test_stderr_of_a_dead_process_is_told(saved_model):
    with SessionProcess(saved_model) as process:
        print("no request", file=process._process.stdin, flush=True)
        with pytest.raises(RuntimeError, match=r"ended with code 1: .*JSONDecodeError"):
            _ = process.signatures

"""Processes that join on JAX, in child processes; and what one process can do alone."""

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec

import keras
import pytest

from kerasnmt.training import Processes, join_processes

SCRIPT = """
import json
import os
import sys

import numpy as np

from kerasnmt.training import Processes, join_processes
from kerasnmt.training import processes as module

said = {}
try:
    join_processes("auto")
except ValueError as error:
    said["auto"] = str(error)
join_processes(f"localhost:{sys.argv[1]},elsewhere:1234", 2, int(sys.argv[2]))
processes = Processes()
said |= {"count": processes.count, "index": processes.index, "is_first": processes.is_first}


def fail():
    raise OSError("the disk is full")


texts = ["a" * 5, "b" * 300]
said["gathered"] = processes.gather(lambda: texts[processes.index]) == texts
module._PIECE = 100  # so that a message has several pieces
own = {"text": f"from {processes.index}", "array": np.arange(3, dtype="float64") / 7}
shared = processes.share(lambda: own)
said |= {"shared": shared["text"], "exact": bool((shared["array"] == own["array"]).all())}
for name, call in {
    "failed": lambda: processes.share(fail),
    "differs": lambda: processes.check_equal("recipe", {"seed": 1 + processes.index}),
    "equals": lambda: processes.check_equal("recipe", {"seed": 1}),
    "failed in one": lambda: processes.gather(fail if processes.index else dict),
}.items():
    try:
        call()
        said[name] = None
    except (OSError, ValueError) as error:
        said[name] = f"{type(error).__name__}: {error}"
if processes.is_first:
    try:
        with processes.computing():
            processes.gather(dict)  # while the other process ends
    except ChildProcessError as error:
        said["lost"] = str(error)
print(json.dumps(said), flush=True)
os._exit(0)  # JAX would wait for the other process
"""


@pytest.fixture(scope="module")
def said():
    """What each of two processes says."""
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(port), str(index)],
            env=os.environ | {"KERAS_BACKEND": "jax"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for index in (0, 1)
    ]
    outputs = [child.communicate(timeout=300) for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    return [json.loads(out.splitlines()[-1]) for out, _ in outputs]


def test_two_processes_share_exact_values_and_gather(said):
    names = ("count", "index", "is_first", "shared", "exact", "gathered")
    assert [tuple(one[name] for name in names) for one in said] == [
        (2, 0, True, "from 0", True, True),
        (2, 1, False, "from 0", True, True),
    ]


def test_an_error_of_the_first_process_reaches_the_others(said):
    assert said[0]["failed"] == "OSError: the disk is full"
    assert said[1]["failed"] == "ValueError: The first process has stopped: the disk is full"


def test_an_error_of_one_process_reaches_the_others(said):
    assert said[1]["failed in one"] == "OSError: the disk is full"
    assert said[0]["failed in one"] == "ValueError: Process 1 has stopped: the disk is full"


def test_a_process_that_has_ended_is_named_as_the_cause(said):
    assert "one of them has ended" in said[0]["lost"]
    assert "Resume the run with all processes." in said[0]["lost"]


def test_different_values_are_refused(said):
    assert [one["equals"] for one in said] == [None, None]
    assert said[0]["differs"] == (
        "ValueError: Expected the same recipe in all processes. Received: another one in process 1."
    )
    assert said[1]["differs"] == (
        "ValueError: Expected the same recipe in all processes, such as {'seed': 1} in the first "
        "one. Received: {'seed': 2} in process 1."
    )


def test_an_unknown_environment_is_one_error(said):
    assert (
        "Received: coordinator=auto, processes=None, process=None, and no such" in said[0]["auto"]
    )


def test_one_process_shares_with_itself():
    processes, value = Processes(), object()
    assert (processes.count, processes.index, processes.is_first) == (1, 0, True)
    assert processes.share(lambda: value) is value
    assert processes.gather(lambda: value) == [value]
    processes.check_equal("recipe", value)
    with pytest.raises(OSError, match="full"), processes.computing():
        raise OSError("full")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("10.0.0.1", 2, 0), "host:port.*coordinator=10.0.0.1"),
        (("10.0.0.1:0", 2, 0), "host:port"),
        ((":1234", 2, 0), "host:port"),
        (("localhost:1234", 0, 0), "at least 1 process.*processes=0"),
        (("localhost:1234", 2, 2), "process=2, processes=2"),
        (("localhost:1234", 2, -1), "process=-1"),
    ],
)
def test_join_processes_refuses_wrong_arguments(monkeypatch, arguments, message):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ValueError, match=message):
        join_processes(*arguments)


def test_join_processes_needs_jax():
    with pytest.raises(ValueError, match="Set KERAS_BACKEND=jax"):
        join_processes("localhost:1234", 2, 0)

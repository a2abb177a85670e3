"""`kerasnmt launch`, with a small program instead of training."""

import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from kerasnmt.cli import launch as module
from kerasnmt.cli.main import app

# Each process writes its number, and ends as its part of the argument says.
PROGRAM = """
import os, signal, sys, time

index = int(os.environ["KERAS_DISTRIBUTION_PROCESS_ID"])
count = os.environ["KERAS_DISTRIBUTION_NUM_PROCESSES"]
print(f"process {index} of {count} on {os.environ['KERAS_BACKEND']}", flush=True)
print(sys.argv[1:], file=sys.stderr, flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
open(f"ready_{index}", "w").close()
how = sys.argv[-1].split(",")[index]
if how == "wait":
    time.sleep(120)
elif how == "killed":
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)
else:
    sys.exit(int(how))
"""


@pytest.fixture(autouse=True)
def small_program(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_PROGRAM", [sys.executable, "-c", PROGRAM])


def launch(*words):
    """Return the exit code, and the seconds that the command took."""
    begin = time.monotonic()
    code = app(["launch", *words], prog_name="kerasnmt", standalone_mode=False)
    return code, time.monotonic() - begin


def test_all_processes_run_the_command_and_the_first_one_prints(capfd):
    assert launch("-n", "3", "train", "r.yaml", "--output", "run", "0,0,0")[0] == 0
    out, error = capfd.readouterr()
    assert out == "process 0 of 3 on jax\n"
    assert error == "['train', 'r.yaml', '--output', 'run', '0,0,0']\n"


@pytest.mark.parametrize(
    ("ends", "code", "said"),
    [
        ("wait,killed", 137, "process 1 of 2 has ended by SIGKILL, and the others are killed"),
        ("killed,wait", 137, "process 0 of 2 has ended by SIGKILL, and the others are killed"),
        ("wait,2", 2, "process 1 of 2 has ended with exit code 2, and the others are killed"),
        ("wait,2", 2, "process 1 of 2 on jax\n['train', 'wait,2']\n"),  # its last lines
        ("wait,wait,killed", 137, "process 2 of 3 has ended by SIGKILL"),
    ],
)
def test_the_end_of_one_process_ends_the_others(capfd, ends, code, said):
    ended, seconds = launch("-n", str(len(ends.split(","))), "train", ends)
    assert ended == code
    assert said in capfd.readouterr().err
    assert seconds < 60  # the others would wait 120 seconds


@pytest.mark.parametrize(
    ("codes", "first"),
    [
        ([1, 2], (1, 2)),
        ([-signal.SIGABRT, None, -signal.SIGKILL, 2], (2, -signal.SIGKILL)),
        ([None, 1, -signal.SIGABRT], (1, 1)),
        ([0, 0], (0, 0)),
    ],
)
def test_a_process_that_only_lost_another_is_not_the_first(tmp_path, codes, first):
    group = module._Group(len(codes), tmp_path)
    group.processes = [SimpleNamespace(poll=lambda code=code: code) for code in codes]
    assert group.first_end() == first


def test_an_error_of_the_first_process_is_shown_once(capfd):
    assert launch("-n", "2", "train", "2,wait")[0] == 2
    assert capfd.readouterr().err == "['train', '2,wait']\n"


def test_a_signal_goes_to_the_first_process_only(capfd, tmp_path):
    def stop():
        while len([*tmp_path.glob("ready_*")]) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    threading.Thread(target=stop, daemon=True).start()
    assert launch("-n", "2", "train", "wait,wait")[0] == 143
    # The other process would have had the same exit code, and then it would be named.
    assert "has ended" not in capfd.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_only_train_can_be_launched():
    with pytest.raises(ValueError, match="Expected the command train, with its arguments"):
        launch("-n", "2", "translate", "run")

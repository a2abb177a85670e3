"""Versions are written completely or not at all, by processes without TensorFlow."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kerasnmt.serving.runtimes.version_folder import newest_version, write_version

PREFIX = ".kerasnmt-unfinished-"
ROOT = Path(__file__).parents[3]
WHOLE = {"saved_model.pb": "graph", "variables/index": "index", "variables/data": "data" * 1000}

# Runs in a separate Python process, which is small enough to be forked many times.
SCRIPT = """
import json, os, signal, sys
from pathlib import Path
from kerasnmt.serving.runtimes.version_folder import write_version

assert "tensorflow" not in sys.modules
directory, whole = Path(sys.argv[1]), json.loads(sys.argv[2])

def write(folder):
    for name, text in whole.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

def forked(work):
    process = os.fork()
    if not process:
        work()
        os._exit(0)
    return process
"""

KILLS = (
    SCRIPT
    + """
def killed_at(moment):
    # An audit hook is called before each open, mkdir, lock, rename and remove.
    left = [moment]

    def hook(event, arguments):
        left[0] -= event.partition(".")[0] in ("open", "os", "fcntl", "shutil")
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    write_version(directory, write)

moment, found = 0, []
ended = signal.SIGKILL
while ended == signal.SIGKILL:
    moment += 1
    _, status = os.waitpid(forked(lambda: killed_at(moment)), 0)
    ended = os.waitstatus_to_exitcode(status) * -1
    found.append(sorted(os.listdir(directory)) if directory.exists() else [])
assert not ended, ended
print(json.dumps(found))
"""
)

RACE = (
    SCRIPT
    + """
def many():
    for _ in range(10):
        write_version(directory, write)

codes = [os.waitpid(process, 0)[1] for process in [forked(many) for _ in range(3)]]
assert codes == [0, 0, 0], codes
"""
)


def run(script, directory):
    done = subprocess.run(
        [sys.executable, "-c", script, directory, json.dumps(WHOLE)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(folder):
    for name, text in WHOLE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def held(folder):
    """Return the files of a folder, with their content."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_a_kill_at_any_moment_leaves_whole_versions_only(tmp_path):
    directory = tmp_path / "en_de"
    moments = json.loads(run(KILLS, directory))
    assert len(moments) > 30
    # Each attempt is killed one step later than the previous one, until one succeeds.
    *killed, last = moments
    unfinished = [sum(name.startswith(PREFIX) for name in names) for names in killed]
    # Each process removes the folder of the previous one, so there is never more than one.
    assert max(unfinished) == 1
    versions = [[name for name in names if name.isdecimal()] for names in moments]
    assert versions[0] == versions[len(versions) // 2] == []
    # Processes that are killed after the move also leave a version.
    assert last == versions[-1] == sorted(str(n + 1) for n in range(len(last)))
    assert len(last) > 1
    assert all(held(directory / name) == WHOLE for name in last)


def test_many_at_once_write_a_version_each(tmp_path):
    directory = tmp_path / "en_de"
    run(RACE, directory)
    assert sorted(os.listdir(directory), key=int) == [str(n + 1) for n in range(30)]
    assert all(held(directory / str(n + 1)) == WHOLE for n in range(30))


def test_an_unfinished_version_of_a_living_process_stays(tmp_path):
    def write_slowly(folder):
        assert write_version(tmp_path, write) == tmp_path / "1"
        write(folder)

    assert write_version(tmp_path, write_slowly) == tmp_path / "2"
    assert sorted(os.listdir(tmp_path)) == ["1", "2"]
    assert held(tmp_path / "1") == held(tmp_path / "2") == WHOLE


def test_what_stays_and_what_goes(tmp_path):
    dead, used = tmp_path / ".kerasnmt-unfinished-dead", tmp_path / ".kerasnmt-unfinished-used"
    for folder in (dead, used, tmp_path / ".hidden"):
        folder.mkdir()
        (folder / "lock").touch()
    (tmp_path / ".kerasnmt-unfinished-without-a-lock" / "variables").mkdir(parents=True)
    with open(used / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_version(tmp_path, write)
        assert sorted(os.listdir(tmp_path)) == [".hidden", ".kerasnmt-unfinished-used", "1"]
    write_version(tmp_path, write)
    assert sorted(os.listdir(tmp_path)) == [".hidden", "1", "2"]


def test_a_folder_that_is_taken_for_abandoned_is_made_anew(tmp_path, monkeypatch):
    flock, taken = fcntl.flock, []

    def slow(lock, operation):
        if not taken:
            # Another process removes the folder before it is locked.
            taken.extend(os.listdir(tmp_path))
            (tmp_path / taken[0] / "lock").unlink()
            (tmp_path / taken[0]).rmdir()
        flock(lock, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    assert held(write_version(tmp_path, write)) == WHOLE
    assert len(taken) == 1
    assert os.listdir(tmp_path) == ["1"]


def test_without_locks_versions_are_written_all_the_same(tmp_path, monkeypatch):
    def no_locks(lock, operation):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / ".kerasnmt-unfinished-x").mkdir()
    assert write_version(tmp_path, write) == tmp_path / "1"
    assert sorted(path for path in os.listdir(tmp_path)) == [".kerasnmt-unfinished-x", "1"]


@pytest.mark.parametrize("holds", [{"theirs": "x"}, {}])
def test_a_number_taken_meanwhile_is_left_alone(tmp_path, holds):
    def write_late(folder):
        write(folder)
        # Taken by a file, and by a folder, which may be empty.
        (tmp_path / "4").write_text("a file")
        (tmp_path / "5").mkdir()
        for name, text in holds.items():
            (tmp_path / "5" / name).write_text(text)

    (tmp_path / "3").mkdir()
    assert write_version(tmp_path, write_late) == tmp_path / "6"
    assert held(tmp_path / "5") == holds
    assert held(tmp_path / "6") == WHOLE
    with pytest.raises(ValueError, match=r"does not exist\. Received: directory='.*/8'"):
        write_version(tmp_path, lambda folder: (tmp_path / "8").mkdir(), 8)
    assert sorted(os.listdir(tmp_path)) == ["3", "4", "5", "6", "8"]


def test_a_folder_that_comes_at_the_last_moment_is_not_written_over(tmp_path, monkeypatch):
    lexists = os.path.lexists

    def too_early(path):
        before = lexists(path)
        if Path(path) == tmp_path / "1" and not before:
            (tmp_path / "1").mkdir()
            (tmp_path / "1" / "theirs").write_text("x")
        return before

    monkeypatch.setattr(os.path, "lexists", too_early)
    assert write_version(tmp_path, write) == tmp_path / "2"
    assert held(tmp_path / "1") == {"theirs": "x"}
    assert held(tmp_path / "2") == WHOLE


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks /proc for names")
def test_the_disk_has_a_version_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    fsync, rename = os.fsync, os.rename

    def note_fsync(descriptor):
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        done.append(path.name if path != tmp_path else "directory")
        fsync(descriptor)

    def note_rename(*paths):
        done.append("rename")
        rename(*paths)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "rename", note_rename)
    write_version(tmp_path, write)
    assert done[-2:] == ["rename", "directory"]
    names = ["folder", "saved_model.pb", "variables", "index", "data"]
    assert sorted(done[:-2]) == sorted(names)


def test_newest_version_has_the_highest_number(tmp_path):
    assert newest_version(tmp_path / "none") is None
    assert newest_version(tmp_path) is None
    for name in ("9", "10", "x11", ".kerasnmt-unfinished-12"):
        (tmp_path / name).mkdir()
    (tmp_path / "99").touch()
    assert newest_version(tmp_path) == tmp_path / "10"

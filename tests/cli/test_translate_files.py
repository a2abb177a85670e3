import importlib.util
import socket
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import PROGRAM

needs_beam = pytest.mark.skipif(
    importlib.util.find_spec("apache_beam") is None, reason="Apache Beam is not installed"
)
WORDS = ["Anna", "sees", "two", "old", "dogs", ".", "The", "man", "sleeps", "and", "reads"]
TEXTS = [" ".join(WORDS[start : start + size]) for start in range(6) for size in range(1, 6)]
SIZE = 1500
NAMES = ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "6.txt"]


@pytest.fixture
def files(tmp_path):
    """Pattern of files, whose eighth line is broken, and the output folder."""
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [f"{text}\n".encode() for text in TEXTS * (SIZE // len(TEXTS))]
    lines[7] = b"\xff\n"
    for name in NAMES:
        (folder / name).write_bytes(b"".join(lines))
    return folder / "*.txt", tmp_path / "out"


@pytest.fixture
def start(export_folder):
    """Start `kerasnmt translate-files` in a child process; return it."""
    started = []

    def start(files, *options):
        pattern, out = files
        command = [*PROGRAM, "translate-files", export_folder, "--input", pattern, "--output", out]
        process = subprocess.Popen(
            [*map(str, command), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def said(process):
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, ""), err
    return err.splitlines()


def check(out, names, translator):
    """Check that each line has its translation, in order."""
    expected = translator.translate(TEXTS) * (SIZE // len(TEXTS))
    expected[7] = ""
    text = "".join(f"{line}\n" for line in expected)
    assert [(out / name).read_text() for name in names] == [text] * len(names)
    rows = [line.split("\t") for line in (out / "broken.tsv").read_text().splitlines()]
    reason = "not UTF-8: byte 0xff at position 1"
    assert rows == [[str(out.parent / "in" / name), "8", reason] for name in names]


@needs_beam
def test_killed_and_started_again(start, files, translator):
    """Several processes translate. After a kill, the next run translates what is missing."""
    _, out = files
    process = start(files)
    while not [*out.glob(".parts/*/*/*.json")]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.kill()
    assert not [*out.glob("*.txt")]
    *others, broken = said(start(files))
    assert broken == f"lines that cannot be read: 6, see {out}/broken.tsv"
    assert others[0] == f"translated lines: {6 * SIZE:,}"
    check(out, NAMES, translator)
    assert said(start(files)) == ["done before: 6 of 6 files", broken]


@needs_beam
def test_on_a_job_server(start, files, translator):
    pattern, out = files
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    module = "apache_beam.runners.portability.local_job_service_main"
    server = subprocess.Popen(
        [sys.executable, "-m", module, "--port", str(port)], stderr=subprocess.DEVNULL
    )
    try:
        options = ("--runner", "PortableRunner", "--job_endpoint", f"localhost:{port}")
        options += ("--environment_type", "LOOPBACK")
        process = start((pattern.with_name("[12].txt"), out), *options)
        assert f"translated lines: {2 * SIZE:,}" in said(process)
        check(out, NAMES[:2], translator)
    finally:
        server.kill()
        server.wait()


@needs_beam
def test_errors(kerasnmt, files, export_folder, run_folder):
    pattern, out = files
    place = ("--input", pattern, "--output", out)
    done = kerasnmt("translate-files", export_folder, *place, "--score", "--wrokers", "2")
    assert (done.code, done.err) == (2, "error: No such option: --score --wrokers\n")
    done = kerasnmt("translate-files", run_folder, *place)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected an export of kerasnmt, <name>/<version> with ")
    assert not out.exists()


def test_without_beam(kerasnmt, files, export_folder, monkeypatch):
    pattern, out = files
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    done = kerasnmt("translate-files", export_folder, "--input", pattern, "--output", out)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: Expected the package apache_beam, which is not installed. Install it: "
        "pip install 'kerasnmt[beam]'\n"
    )

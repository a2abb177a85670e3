import re
import shutil
import signal
import subprocess

import pytest
import requests

from tests.cli.conftest import LINES, TEXT, WITHOUT_TENSORFLOW
from tests.conftest import PATIENCE


def predict(url, name, texts):
    """Ask the server of a model."""
    url += f"/v1/models/{name}:predict"
    return requests.post(url, json={"inputs": texts}, timeout=PATIENCE)


def stopped(process, end):
    """Stop the server with a signal, and return the lines of its output."""
    process.send_signal(end)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "")
    return err.splitlines()


@pytest.mark.usefixtures("optimized_graphs")
def test_serves_until_it_is_stopped(serve, kerasnmt, export_folder, translator):
    """Serve the newest version of a folder, also to a client without TensorFlow.

    Libraries of the server and the client say nothing.
    """
    options = ("--port", 0, "--max-batch", 8, "--max-body-bytes", 200)
    options += ("--max-text-bytes", 30, "--access-log")
    process, name, url = serve(export_folder.parent, *options)
    assert name == "tiny"
    outputs = predict(url, name, LINES).json()["outputs"]
    assert outputs["translation"] == translator.translate(LINES)
    for texts, code in (([""] * 9, 400), (["a" * 200], 413), (["a" * 31], 400)):
        assert predict(url, name, texts).status_code == code
    options = ("--scores", "--alignments")
    server = ("--server", url, "--model", name, "--timeout", str(PATIENCE))
    client = [*WITHOUT_TENSORFLOW, "translate", *server, *options]
    done = subprocess.run(client, input=TEXT, capture_output=True, text=True, timeout=PATIENCE)
    local = kerasnmt("translate", export_folder, *options, stdin=TEXT)
    assert (done.stdout, done.stderr) == (local.out, "")
    assert any(re.search(r"\t\d+-\d+ \d+-\d+", line) for line in local.lines)
    *requests_, last = stopped(process, signal.SIGINT)
    assert last == "stopped"
    asked = [re.search(r" 127.0.0.1 (POST \S+ \d+) \d+.\d ms$", line)[1] for line in requests_[:4]]
    assert asked == [f"POST /v1/models/tiny:predict {code}" for code in (200, 400, 413, 400)]


@pytest.mark.thorough("starts one more server; test_task_session.py serves a model")
def test_a_preset_is_served_without_an_export(serve, preset_folder, preset_translations):
    process, name, url = serve(preset_folder, "--port", 0, "--allow-host", "translate.example")
    assert name == preset_folder.name
    outputs = predict(url, name, LINES).json()["outputs"]
    assert outputs["translation"] == preset_translations(LINES)
    for host, code in (("translate.example", 200), ("evil.example", 403)):
        headers = {"Host": host}
        answer = requests.get(f"{url}/healthz", headers=headers, timeout=PATIENCE)
        assert answer.status_code == code
    assert stopped(process, signal.SIGINT) == ["stopped"]


@pytest.mark.thorough("starts one more server; test_current_version.py changes versions")
def test_a_new_version_is_served(serve, export_folder, translator, tmp_path):
    folder = tmp_path / "tiny"
    shutil.copytree(export_folder, folder / "1")
    process, _, url = serve(folder, "--port", 0, "--poll", 0.05)
    (folder / "2").mkdir()
    (folder / "2" / "saved_model.pb").write_bytes(b"none")
    error = f"still serving version 1: {folder}/2: the export cannot be loaded; `kerasnmt check`"
    assert process.stderr.readline().startswith(error)
    assert versions(url) == ["1"]
    shutil.copytree(export_folder, tmp_path / "copied")
    (tmp_path / "copied").rename(folder / "3")
    assert process.stderr.readline() == "serving version 3 of tiny\n"
    while versions(url) == ["1"]:  # it is said just before
        pass
    assert versions(url) == ["3"]
    outputs = predict(url, "tiny", LINES).json()["outputs"]
    assert outputs["translation"] == translator.translate(LINES)
    assert stopped(process, signal.SIGTERM) == ["stopped"]


def versions(url):
    answer = requests.get(f"{url}/v1/models/tiny", timeout=PATIENCE).json()
    return [state["version"] for state in answer["model_version_status"]]


@pytest.mark.thorough("starts one more server; test_web_server.py stops one")
def test_a_prediction_without_end_does_not_keep_the_server(serve, export_folder):
    options = ("--timeout", 0.001, "--max-requests", 1, "--name", "en_de")
    process, name, url = serve(export_folder, "--port", 0, *options)
    assert name == "en_de"
    # The first run takes about a second.
    assert predict(url, name, ["a b"] * 999).status_code == 504
    assert stopped(process, signal.SIGTERM) == ["stopped"]


def test_bad_usage(kerasnmt, export_folder, tmp_path):
    (tmp_path / "1").mkdir()
    for folder in (tmp_path, tmp_path / "1", tmp_path / "none"):
        done = kerasnmt("serve", folder)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: Expected a run, a preset, or the folder of an export, ")
        assert done.err.endswith(f"Received: {folder}\n") and done.err.count("\n") == 1
    exports = export_folder.parents[1]
    done = kerasnmt("serve", exports)
    assert (done.code, done.out) == (2, "")
    below = f", which contains exports. Serve one of them: {export_folder.parent}\n"
    assert done.err.endswith(f"Received: {exports}{below}")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.keras").touch()
    done = kerasnmt("serve", tmp_path / "run")
    assert (done.code, done.out) == (2, "")
    assert f"error: {tmp_path}/run/model.keras: the model cannot be loaded: " in done.err
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"none")
    done = kerasnmt("serve", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"error: {tmp_path}/1: the export cannot be loaded; `kerasnmt check` shows" in done.err
    done = kerasnmt("serve", export_folder, "--host", "no such host", "--port", 0)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected an address to listen on. Received: host no such")

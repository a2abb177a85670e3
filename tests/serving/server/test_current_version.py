import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from werkzeug.test import Client

from kerasnmt.serving import RestApp
from kerasnmt.serving.protocol.meta_graph import Signature, TensorInfo
from kerasnmt.serving.server.current_version import CurrentVersion, VersionWatcher

FAILURES = {1313: RuntimeError("thirteen"), 1414: ValueError("other inputs")}
TEXT = {"text": TensorInfo("text:0", "string", [-1])}


class Numbered:
    """Session that answers every text with its number, and waits for an event before."""

    signatures = {"serving_default": Signature(TEXT, TEXT)}  # noqa: RUF012

    def __init__(self, number):
        self.number, self.runs = number, 0
        self.begun, self.go_on, self.closed = (threading.Event() for _ in range(3))
        self.go_on.set()

    def run(self, name, inputs):
        self.begun.set()
        assert self.go_on.wait(60) and not self.closed.is_set()
        self.runs += 1
        if self.number in FAILURES:
            raise FAILURES[self.number]
        return {"text": np.full(len(inputs["text"]), b"%d" % self.number, object)}

    def close(self):
        self.closed.set()


def numbered(number):
    return RestApp(Numbered(number), "toy", number)


def ask(app, path="/v1/models/toy:predict"):
    answer = Client(app).post(path, json={"inputs": ["x"]})
    return answer.get_json().get("outputs", answer.status_code)


def test_a_version_is_replaced_when_its_requests_are_answered():
    old, new = numbered(1), numbered(2)
    old.session.go_on.clear()
    current = CurrentVersion(old)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(ask, current)
        assert old.session.begun.wait(60)
        replacing = pool.submit(current.replace, new)
        while current.version == 1:
            pass
        assert ask(current) == ["2"]
        assert ask(current, "/v1/models/toy/versions/1:predict") == 404
        assert not (slow.done() or replacing.done() or old.session.closed.is_set())
        old.session.go_on.set()
        assert slow.result(60) == ["1"]
        replacing.result(60)
    assert old.session.closed.is_set() and not new.session.closed.is_set()
    (state,) = Client(current).get("/v1/models/toy").get_json()["model_version_status"]
    assert (state["version"], state["state"]) == ("2", "AVAILABLE")


def test_requests_during_many_replacements_are_answered():
    current = CurrentVersion(numbered(0))
    done = threading.Event()

    def replace():
        for number in range(1, 200):
            current.replace(numbered(number))
        done.set()

    def keep_asking():
        found = []
        while not done.is_set() or not found:
            found += map(int, ask(current))
        return found

    with ThreadPoolExecutor(5) as pool:
        clients = [pool.submit(keep_asking) for _ in range(4)]
        pool.submit(replace).result()
    for client in clients:
        assert client.result() == sorted(client.result())
    assert ask(current) == ["199"]


@pytest.fixture
def watched(tmp_path):
    """A model's folder, its served version, a function that looks, and what it has said."""
    said, loaded = [], []
    current = CurrentVersion(numbered(2))

    def load(version):
        loaded.append(int(version.name))
        if (version / "saved_model.pb").read_text() != "good":
            raise ValueError(f"{version.name}: it is bad")
        return numbered(int(version.name))

    watcher = VersionWatcher(current, tmp_path, "saved_model.pb", load, said.append)
    write(tmp_path / "2", "good")
    return tmp_path, current, watcher.look, said, loaded


def write(version, content):
    version.mkdir(exist_ok=True)
    (version / "saved_model.pb").write_text(content)


def test_a_new_version_is_served(watched):
    folder, current, look, said, loaded = watched
    write(folder / "1", "good")
    (folder / ".kerasnmt-unfinished-x").mkdir()
    (folder / "notes").mkdir()
    look()
    look()
    assert (current.version, loaded) == (2, [])
    with current.borrowed() as old:
        pass
    write(folder / "10", "good")
    write(folder / "9", "good")
    look()
    assert loaded == []  # it may still be copied
    look()
    assert (current.version, loaded, ask(current)) == (10, [10], ["10"])
    assert said == ["serving version 10 of toy"] and old.session.closed.is_set()
    with current.borrowed() as new:
        assert new.session.runs == 2  # an example before it was served, and the question above
    for file in (folder / "10").iterdir():
        file.unlink()
    (folder / "10").rmdir()  # to go back, as in TF Serving
    look()
    look()
    assert (current.version, loaded) == (9, [10, 9])


def test_a_version_that_is_being_copied_is_not_loaded(watched):
    folder, current, look, said, loaded = watched
    (folder / "3").mkdir()
    (folder / "3" / "variables").mkdir()
    look()
    look()
    write(folder / "3", "go")
    for size in range(3):
        (folder / "3" / "variables" / "data").write_bytes(bytes(size))
        look()
        assert (current.version, loaded) == (2, [])
    write(folder / "3", "good")
    look()
    look()
    assert (current.version, loaded, said) == (3, [3], ["serving version 3 of toy"])


def test_a_version_that_cannot_be_loaded_is_reported_once(watched):
    folder, current, look, said, loaded = watched
    write(folder / "3", "bad")
    for _ in range(4):
        look()
    assert said == ["still serving version 2: 3: it is bad"] and loaded == [3]
    assert ask(current) == ["2"]
    write(folder / "3", "still bad")
    for _ in range(4):
        look()
    assert len(said) == 1 and loaded == [3, 3]
    write(folder / "3", "good")
    look()
    look()
    assert ask(current) == ["3"] and said[1:] == ["serving version 3 of toy"]


@pytest.mark.parametrize("number", FAILURES)
def test_a_version_that_fails_on_an_example_is_not_served(tmp_path, number):
    current, app, said = CurrentVersion(numbered(2)), numbered(number), []
    watcher = VersionWatcher(current, tmp_path, "saved_model.pb", lambda version: app, said.append)
    write(tmp_path / str(number), "good")
    for _ in range(4):
        watcher.look()
    error = f"{tmp_path}/{number}: the export fails to answer an example: {FAILURES[number]}"
    assert said == [f"still serving version 2: {error}"]
    assert current.version == 2 and app.session.closed.is_set() and app.session.runs == 1


def test_a_folder_that_disappears_changes_nothing(watched):
    folder, current, look, said, _ = watched
    folder.rename(folder.with_name("moved"))
    look()
    folder.write_text("a file")
    look()
    assert (current.version, said, ask(current)) == (2, [], ["2"])
    folder.unlink()


def test_a_version_that_is_removed_while_it_is_loaded_is_not_served(tmp_path):
    current, loaded = CurrentVersion(numbered(1)), []
    write(tmp_path / "1", "good")

    def load(version):
        loaded.append(numbered(2))
        shutil.rmtree(version)
        return loaded[0]

    watcher = VersionWatcher(current, tmp_path, "saved_model.pb", load, pytest.fail)
    write(tmp_path / "2", "good")
    watcher.look()
    watcher.look()
    assert current.version == 1 and loaded[0].session.closed.is_set()

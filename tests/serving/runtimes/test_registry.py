"""A new runtime, whose exports are dictionaries in JSON."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
import requests

from kerasnmt.atomic_write import atomic_folder
from kerasnmt.serving.runtimes import registry
from kerasnmt.serving.runtimes.registry import (
    export_folders,
    find_runtime,
    register_runtime,
    runtime_named,
)
from kerasnmt.serving.runtimes.runtime import Runtime
from kerasnmt.serving.server.offers import ExportOffer
from kerasnmt.serving.server.run_server import run_server
from kerasnmt.serving.server.server_options import ServerOptions
from kerasnmt.tasks import ServedModel, Translator
from tests.cli.conftest import (  # noqa: F401
    kerasnmt,
    load_export_once,
    load_model_once,
    load_once,
    load_run_once,
)

WORDS = {"dog": "Hund", "dogs": "Hunde"}


class Dictionary(ServedModel):
    fields = ("text",)

    def __init__(self, words):
        self.description = {"inputs": ["text"], "beam_size": 1}
        self.signatures = {"serving_default": self.translate}
        self.words = words

    def translate(self, text):
        texts = [one.decode(errors="replace") if isinstance(one, bytes) else one for one in text]
        found = [" ".join(self.words.get(word, word) for word in one.split()) for one in texts]
        return {
            "translation": np.array([one.encode() for one in found], object),
            "score": np.zeros(len(found), "float32"),
        }


class DictionaryRuntime(Runtime):
    name = "dictionary"
    title = "a dictionary"
    about = "dictionary looks up words."
    mark = "words.json"
    needs_tensorflow = False
    lacks = frozenset({"n_best", "attention"})

    def export(self, model, directory, **options):
        with atomic_folder(directory) as folder:
            (folder / self.mark).write_text(json.dumps(WORDS))
            (folder / "kerasnmt.json").write_text(json.dumps({"inputs": ["text"]}))
        return str(directory)

    def load(self, export):
        return Dictionary(json.loads((export / self.mark).read_text()))


@pytest.fixture
def dictionary(monkeypatch, tmp_path):
    """An export for the new runtime."""
    monkeypatch.setattr(registry, "_RUNTIMES", [*registry._RUNTIMES])
    register_runtime(DictionaryRuntime())
    return runtime_named("dictionary").export(None, tmp_path / "words")


def test_the_program_takes_its_exports(kerasnmt, dictionary, tmp_path):  # noqa: F811
    assert kerasnmt("translate", dictionary, stdin="two dogs\ndog\n").lines == ["two Hunde", "Hund"]
    (tmp_path / "pairs.tsv").write_text("a dog\ta Hund\n")
    done = kerasnmt("evaluate", dictionary, "--pairs", tmp_path / "pairs.tsv")
    assert done.code == 0 and "exact  100.00%" in done.out


def test_exports_in_a_folder(dictionary, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "model/2").mkdir(parents=True)
    (tmp_path / "model/2/saved_model.pb").touch()
    (tmp_path / "en_de.onnx").mkdir()
    (tmp_path / "en_de.onnx/step.onnx").touch()
    folders = ["en_de.onnx", "model", "words"]
    assert export_folders(tmp_path) == [tmp_path / name for name in folders]
    assert find_runtime(tmp_path) is None
    assert find_runtime(tmp_path / "model")[1] == tmp_path / "model/2"
    assert find_runtime(tmp_path / "other") is None


def test_the_check_takes_its_exports(dictionary, served_here):
    from kerasnmt.serving import check_export

    report = check_export(dictionary)
    assert report.passed, str(report)
    assert [row.name for row in report.rows] == [
        *("files", "load", "signatures", "requests", "batch_of_one", "odd_inputs", "expected"),
    ]
    assert report.rows[1].detail.startswith("loaded with a dictionary, ")
    (Path(dictionary) / "kerasnmt.json").unlink()  # an export of an earlier version
    assert check_export(dictionary).passed
    assert (
        check_export(Path(dictionary).parent)
        .rows[0]
        .detail.endswith(f"; did you mean {dictionary}?")
    )


def test_a_server_takes_its_exports(dictionary):
    said, started = [], threading.Event()

    def say(message):
        said.append(message)
        if len(said) == 2:
            started.set()

    offer = ExportOffer(*find_runtime(dictionary), "words", watched=True, say=say)
    about, options = {"name": "words", "examples": []}, ServerOptions(port=0)
    threading.Thread(target=run_server, args=(offer, about, options, say), daemon=True).start()
    assert started.wait(30)
    url = said[0].split(" at ")[1].partition(";")[0]
    asked = {"instances": ["two dogs"]}
    answer = requests.post(f"{url}:predict", json=asked, timeout=30).json()
    assert answer == {"predictions": [{"translation": "two Hunde", "score": 0.0}]}


@pytest.mark.parametrize("name", ["run_12:00", "en/de"])
def test_a_server_refuses_a_name_that_is_no_part_of_an_address(dictionary, name):
    offer = ExportOffer(*find_runtime(dictionary), name, watched=True, say=print)
    with pytest.raises(ValueError, match=f"Received: '{name}'. Pass another one with --name"):
        run_server(offer, {}, ServerOptions(port=0), print)


def test_python_takes_its_exports(dictionary):
    runtime, export = find_runtime(dictionary)
    assert Translator(runtime.load(export)).translate(["dogs dog"]) == ["Hunde Hund"]


def test_unknown_runtimes():
    expected = r"one of the runtimes tensorflow, ctranslate2, litert, onnx, web\. Received: onx\."
    with pytest.raises(ValueError, match=expected):
        runtime_named("onx")

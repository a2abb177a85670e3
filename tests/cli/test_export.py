import json
import os
import shutil
import signal
import subprocess
import urllib.request

import pytest

from tests.cli.conftest import WITHOUT_TENSORFLOW
from tests.conftest import PATIENCE


def described(version):
    description = json.loads((version / "assets.extra" / "kerasnmt.json").read_text())
    return description["beam_size"], description["weights"]


@pytest.mark.usefixtures("untraced")
def test_versions(kerasnmt, run_folder, export_folder, tmp_path):
    assert (export_folder.name, described(export_folder)) == ("1", (3, "float32"))  # by the recipe
    directory = tmp_path / "en_de"
    shutil.copytree(export_folder, directory / "1")
    options = ["--beam-size", 2, "--search", "min_length=2", "--with", run_folder]
    done = kerasnmt("export", run_folder, directory, *options, "--weights", "int8")
    assert done == (0, f"{directory / '2'}\n", "")
    assert described(directory / "2") == (2, "int8")
    description = json.loads((directory / "2" / "assets.extra" / "kerasnmt.json").read_text())
    assert (description["min_length"], description["model"]) == (2, "ensemble")
    # The name of the folder is a version number.
    done = kerasnmt("export", run_folder, directory / "7", *options)
    assert done == (0, f"{directory / '7'}\n", "")
    assert sorted(path.name for path in directory.iterdir()) == ["1", "2", "7"]
    code, _, error = kerasnmt("export", run_folder, directory / "7", *options)
    assert code == 2 and error.startswith("error: Expected a directory that does not exist.")
    assert error.endswith(f"Export to the next version, {directory / '8'}.\n")


def test_unknown_weights(kerasnmt, run_folder, tmp_path):
    done = kerasnmt("export", run_folder, tmp_path / "en_de", "--weights", "int4")
    message = (
        "error: Expected weights to be one of float32, float16, int8. Received: weights='int4'"
    )
    assert done == (2, "", f"{message}\n")
    assert not (tmp_path / "en_de").exists()


def test_options_of_one_runtime(kerasnmt, run_folder, tmp_path):
    done = kerasnmt("export", run_folder, tmp_path / "x", "--runtime", "onnx", "--ort", tmp_path)
    assert done == (2, "", "error: Expected --runtime web with --ort. Received: --runtime onnx.\n")
    done = kerasnmt("export", run_folder, tmp_path / "x", "--runtime", "web", "--whole")
    assert done == (
        2,
        "",
        "error: Expected --runtime onnx with --whole. Received: --runtime web.\n",
    )
    done = kerasnmt("export", run_folder, tmp_path / "x", "--runtime", "web", "--ort", tmp_path)
    assert done.code == 2 and "without ort.wasm.bundle.min.mjs. Install it: npm" in done.err
    assert not (tmp_path / "x").exists()


@pytest.mark.thorough("another runtime; test_web.py exports for it")
def test_a_site(kerasnmt, tmp_path):
    site = tmp_path / "site"
    done = kerasnmt("export", "sorting_pointer", site, "--runtime", "web", "--beam-size", 2)
    assert (done.code, done.out) == (0, f"{site}\n")
    assert done.err.startswith("The export has the license of sorting_pointer: apache-2.0. ")
    description = json.loads((site / "model/kerasnmt.json").read_text())
    assert (description["beam_size"], description["weights"]) == (2, "int8")
    about = json.loads((site / "page/model.json").read_text())
    text = about["examples"][0]["text"]
    assert about["name"] == "sorting_pointer" and set(text.split()) <= {*map(str, range(100))}
    whole = kerasnmt("export", "sorting_pointer", tmp_path / "w", "--runtime", "onnx", "--whole")
    assert whole.code == 0 and (tmp_path / "w" / "search.onnx").is_file()
    assert (
        kerasnmt("translate", site, stdin=f"{text}\n").out
        == kerasnmt("translate", "sorting_pointer", stdin=f"{text}\n").out
    )


@pytest.mark.thorough("another runtime; test_litert.py exports for it")
def test_lite(kerasnmt, run_folder, loaded_model, tmp_path, lite_folder, monkeypatch):
    folder = tmp_path / "en_de"
    options = ("--lite", "--beam-size", 1, "--weights", "int8")
    core = (lite_folder / "model.tflite").read_bytes()  # made once, as it takes seconds
    monkeypatch.setattr("kerasnmt.serving.runtimes.litert.export._core", lambda *_: core)
    assert kerasnmt("export", run_folder, folder, *options) == (0, f"{folder}\n", "")
    assert sorted(os.listdir(folder)) == ["kerasnmt.json", "model.tflite", "tokenizers.json"]
    description = json.loads((folder / "kerasnmt.json").read_text())
    assert (description["beam_size"], description["weights"]) == (1, "int8")
    done = kerasnmt("translate", folder, stdin="Anna sees two dogs .\n\n")
    expected = loaded_model.translate(["Anna sees two dogs ."], beam_size=1, max_length=20)
    assert (done.code, done.lines) == (0, [*expected, ""])
    done = kerasnmt("translate", folder, "--n-best", 1, stdin="Anna\n")
    assert (done.code, done.out) == (2, "")
    assert "error: Expected a model, or a SavedModel, for several translations" in done.err
    done = kerasnmt("export", run_folder, folder, "--lite")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected a directory that does not exist.")


def test_lite_replaces_no_unknown_words(kerasnmt, run_folder, tmp_path):
    run = shutil.copytree(run_folder, tmp_path / "run")
    recipe = (run / "recipe.yaml").read_text()
    (run / "recipe.yaml").write_text(
        recipe.replace("search: {", "search: {replace_unknown: true, ")
    )
    done = kerasnmt("export", run, tmp_path / "en_de", "--lite")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: Expected no replace_unknown for LiteRT, whose core ")
    assert "or --search replace_unknown=false, or" in done.err
    assert not (tmp_path / "en_de").exists()


def test_a_folder_that_is_no_run_is_refused_before_tensorflow_is_loaded(kerasnmt, tmp_path):
    done = subprocess.run(
        [*WITHOUT_TENSORFLOW, "export", tmp_path, tmp_path / "en_de"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    for folder in (tmp_path / "none", tmp_path):
        in_process = kerasnmt("export", folder, tmp_path / "en_de")
        message = (
            "error: Expected the folder of a run, with the model.keras of `kerasnmt train`, or a "
            f"preset. Received: {folder}\n"
        )
        assert in_process == (2, "", message)
    assert done.stderr == message
    assert not (tmp_path / "en_de").exists()


def test_a_run_that_cannot_be_read_leaves_nothing(kerasnmt, run_folder, tmp_path):
    damaged = shutil.copytree(run_folder, tmp_path / "run")
    (damaged / "model.keras").write_bytes(b"")
    done = kerasnmt("export", damaged, tmp_path / "en_de")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {damaged}/model.keras: the model cannot be loaded: ")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "en_de").exists()


def test_a_file_or_a_run_in_the_way(kerasnmt, run_folder, tmp_path):
    path = tmp_path / "en_de"
    path.touch()
    done = kerasnmt("export", run_folder, path)
    assert done == (2, "", f"error: {path}: File exists\n")
    before = sorted(run_folder.iterdir())
    for directory in (run_folder, run_folder / "1"):
        done = kerasnmt("export", run_folder, directory)
        assert (done.code, done.out) == (2, "")
        assert f"folder without a run or a preset. Received: {run_folder}, whose" in done.err
    assert sorted(run_folder.iterdir()) == before


@pytest.fixture(scope="module")
def ctranslate2_folder(tmp_path_factory):
    """An export for CTranslate2, of a model that translates "I love you."."""
    from kerasnmt.cli.export import export

    folder = tmp_path_factory.mktemp("ctranslate2") / "en_fr"
    export("tatoeba_en_fr_transformer", folder, runtime="ctranslate2")
    return folder


@pytest.mark.thorough("another runtime; it is exported, started and served by the tests below")
def test_ctranslate2(kerasnmt, ctranslate2_folder, tmp_path):
    folder = tmp_path / "en_fr"
    options = ("--runtime", "ctranslate2", "--weights", "int8", "--beam-size", 2)
    done = kerasnmt("export", "tatoeba_en_fr_transformer", folder, *options)
    assert (done.code, done.out) == (0, f"{folder}\n")
    lost = "split texts into sentences, or read texts in capitals as sentences"
    assert f"exports for CTranslate2 do not {lost}" in done.err
    description = json.loads((folder / "kerasnmt.json").read_text())
    assert (description["beam_size"], description["weights"]) == (2, "int8")
    text = "I love you.\n\n"
    for one in (folder, ctranslate2_folder):
        assert kerasnmt("translate", one, stdin=text) == (0, "Je t'aime.\n\n", "")
    done = kerasnmt("translate", ctranslate2_folder, "--alignments", "--scores", stdin=text)
    line, score, links = done.lines[0].split("\t")
    assert (done.code, line, links) == (0, "Je t'aime.", "0-0 1-1") and -5 < float(score) < 0
    assert len(kerasnmt("translate", folder, "--n-best", 2, stdin=text).lines) == 3
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("I love you.\tJe t'aime.\n")
    done = kerasnmt("evaluate", ctranslate2_folder, "--pairs", pairs)
    assert done.code == 0 and "exact  100.00%" in done.out
    done = kerasnmt("translate", folder, "--search", "beam_size=3", stdin=text)
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    done = kerasnmt("check", ctranslate2_folder)
    assert done.code == 0 and done.lines[0].startswith("ok    files ")


def test_ctranslate2_runs_no_recurrent_models(kerasnmt, run_folder, tmp_path):
    done = kerasnmt("export", run_folder, tmp_path / "en_de", "--runtime", "ctranslate2")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: Expected a Transformer of kerasnmt.zoo for CTranslate2, which runs no other "
        "models. Received: bahdanau_gru (RecurrentEncoder). Use model.export to write it for TF "
        "Serving.\n"
    )
    assert not (tmp_path / "en_de").exists()


def test_a_damaged_export_for_ctranslate2(kerasnmt, ctranslate2_folder, tmp_path):
    damaged = shutil.copytree(ctranslate2_folder, tmp_path / "damaged")
    weights = (damaged / "model.bin").read_bytes()
    (damaged / "model.bin").write_bytes(weights[:-1])
    for verb in ("translate", "serve"):
        done = kerasnmt(verb, damaged)
        assert (done.code, done.out) == (2, "")
        message = "the export cannot be loaded: model.bin is damaged. Copy or export it again\n"
        assert done.err == f"error: {damaged}: {message}"
    done = kerasnmt("check", damaged)
    assert done.code == 1 and "model.bin is damaged" in done.out


def test_ctranslate2_starts_without_tensorflow(ctranslate2_folder):
    done = subprocess.run(
        [*WITHOUT_TENSORFLOW, "translate", ctranslate2_folder],
        input="I love you.\n",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Je t'aime.\n", "")


def test_serve_ctranslate2(serve, kerasnmt, ctranslate2_folder):
    process, name, url = serve(ctranslate2_folder, "--port", 0, "--name", "french")
    assert name == "french"
    server = ("--server", url, "--model", name, "--timeout", PATIENCE)
    done = kerasnmt("translate", *server, stdin="I love you.\n")
    assert (done.code, done.lines) == (0, ["Je t'aime."])
    body = json.dumps({"text": "I love you."}).encode()
    request = urllib.request.Request(f"{url}/page/search", body)
    found = json.load(urllib.request.urlopen(request))
    assert found["hypotheses"][0]["text"] == "Je t'aime."
    assert found["sentence"]["sources"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0

import functools
import importlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

from kerasnmt.cli.loading import SearchChanges, load_run, load_translator
from kerasnmt.cli.main import main
from tests.conftest import PATIENCE
from tests.serving.conftest import served_here, untraced

__all__ = ["served_here", "untraced"]

RECIPE = """\
model: {name: bahdanau_gru, units: 8, embedding_dim: 6, dropout: 0.0}
tokenizer: {shared: {kind: sentencepiece, vocabulary_size: 150}}
data: {train: {builtin: 60}, validation: {builtin: 4}}
search: {beam_size: 3, length_penalty: 0.6, max_length: 20}
"""


LINES = [
    "Anna sees two dogs .",
    "",
    "The man sleeps .",
    "Zoë 🙂",
    "   ",
    "no",
    "Two  old men read .",
    "",
]
TEXT = "".join(f"{line}\n" for line in LINES)

PROGRAM = [sys.executable, "-c", "from kerasnmt.cli.main import main; main()"]
WITHOUT_TENSORFLOW = [
    *PROGRAM[:2],
    f"import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None; {PROGRAM[2]}",
]
SERVED = re.compile(r"serving version 1 of (\S+) at (http://\S+?)/v1/models/\1; Ctrl-C stops it\n")


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self):
        *lines, rest = self.out.split("\n")
        assert not rest
        return lines


def write(path, lines):
    """Write a file of lines; return its path."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def activated(monkeypatch):
    """Activate the Python environment, so that the shell finds its programs by name."""
    folder = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(scope="session")
def load_model_once():
    """`keras.saving.load_model`, which loads each file once."""
    import keras

    load = functools.cache(keras.saving.load_model)
    return lambda path, **options: load(str(path), **options)


@pytest.fixture(scope="session")
def load_run_once(load_model_once):
    """`load_run`, which loads each model once. Tests must not change the models."""

    def load_once(*arguments, **options):
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("keras.saving.load_model", load_model_once)
            return load_run(*arguments, **options)

    return load_once


@pytest.fixture(scope="session")
def load_export_once():
    """`load_export`, which loads each export once."""
    from kerasnmt.serving import load_export

    return functools.cache(load_export)


@pytest.fixture(scope="session")
def load_once(load_run_once, load_export_once):
    """`load_translator`, which loads each run and each export once."""
    export = "kerasnmt.serving.runtimes.saved_model.export"

    @functools.cache
    def load(directory, changes, options):
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("kerasnmt.cli.loading.load_run", load_run_once)
            monkeypatch.setattr(f"{export}.load_export", load_export_once)
            return load_translator(directory, changes, **dict(options))

    def load_once(directory, changes=(), **options):
        pairs = (tuple(one.items()) if isinstance(one, dict) else one for one in changes)
        given = (tuple(one) if isinstance(one, list) else one for one in pairs)
        return load(directory, SearchChanges(*given), tuple(options.items()))

    return load_once


@pytest.fixture
def kerasnmt(monkeypatch, capfd, load_once, load_run_once):
    """Run the program in this process, and capture the output of the program and its libraries."""
    monkeypatch.setattr("kerasnmt.cli.loading.load_run", load_run_once)
    for verb in ("align", "attention", "compare", "evaluate", "export", "score", "translate"):
        module = importlib.import_module(f"kerasnmt.cli.{verb}")
        for name, load in (("load_translator", load_once), ("load_run", load_run_once)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, load)

    def run(*arguments, stdin=""):
        stdin = stdin.encode() if isinstance(stdin, str) else stdin
        stdin = io.TextIOWrapper(io.BytesIO(stdin)) if isinstance(stdin, bytes) else stdin
        monkeypatch.setattr(sys, "argv", ["kerasnmt", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", stdin)
        capfd.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capfd.readouterr()
        # The log level of the tests shows the messages of TensorFlow's libraries. TensorFlow 2.19
        # also writes an empty line.
        talk = r"^(?:[IWEF]\d{4} |[\d-]+ [\d:.]+: [IWEF] |WARNING: All log).*\n+|\A\n+"
        err = re.sub(talk, "", err, flags=re.MULTILINE)
        return Done(caught.value.code, out, err)

    return run


@pytest.fixture
def serve():
    """Start `kerasnmt serve` in a child process; return it, the name of the model and the URL."""
    started = []
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    del environment["TF_CPP_MIN_LOG_LEVEL"]

    def serve(*arguments):
        process = subprocess.Popen(
            [*PROGRAM, "serve", "--timeout", str(PATIENCE), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            # Background jobs of a shell and their child processes ignore interrupts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        started.append(process)
        said = process.stderr.readline()
        name, url = SERVED.fullmatch(said).groups()
        assert process.stderr.readline() == f"open {url}/ to try it\n"
        return process, name, url

    yield serve
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """A run with large random weights, so that different texts have different translations."""
    from kerasnmt.training import Recipe, RunFolder
    from kerasnmt.training.corpora import read_pairs
    from kerasnmt.training.tokenizers import train_tokenizers
    from kerasnmt.zoo import get_model

    run = RunFolder(tmp_path_factory.mktemp("cli") / "run")
    run.path.mkdir()
    run.recipe.write_text(RECIPE)
    recipe = Recipe.load(run.recipe)
    tokenizers = train_tokenizers(recipe.tokenizer, read_pairs(recipe.data.train, "train"))
    model = get_model(recipe.model.name)(*tokenizers.values(), **recipe.model.keywords)
    rng = np.random.default_rng(12)
    model.set_weights([0.9 * rng.normal(size=weight.shape) for weight in model.get_weights()])
    # Pieces that start a word are more likely, so that translations have several words.
    pieces = model.target_tokenizer.tokens(np.arange(150)).numpy().tolist()
    first = [piece.decode().startswith("▁") for piece in pieces]
    model.decoder.generator.bias.assign_add(np.array(first, "float32"))
    model.save(run.model)
    return run.path


@pytest.fixture(scope="session")
def preset_folder(run_folder, load_model_once):
    """A preset of the run's model, with different search options."""
    folder = run_folder.parent / "presets" / "tiny_en_de"
    about = {
        "task": "rhymes",
        "languages": ["en", "de"],
        "license": "cc-by-4.0",
        "score": "BLEU 1.2",
        "search": {"beam_size": 2, "max_length": 8},
    }
    model = load_model_once(run_folder / "model.keras", compile=False)
    model.save_to_preset(folder, weights="float32", about=about)
    return folder


@pytest.fixture(scope="session")
def preset_translations(run_folder, load_model_once):
    """A function that returns the expected translations of the preset."""
    model = load_model_once(run_folder / "model.keras", compile=False)
    return lambda texts, **options: model.translate(
        texts, **{"beam_size": 2, "max_length": 8, **options}
    )


@pytest.fixture
def shipped(preset_folder, monkeypatch):
    """The name of the preset, as if it were a preset of the library."""
    for module in ("kerasnmt.presets.folders", "kerasnmt.presets.finding"):
        importlib.import_module(module)
        monkeypatch.setattr(f"{module}.shipped_presets", lambda: {"tiny_en_de": preset_folder})
    return "tiny_en_de"


@pytest.fixture(scope="session")
def other_run_folder(run_folder):
    """A run with the same tokenizer and other weights, for an ensemble."""
    import shutil

    from kerasnmt.cli.loading import load_run

    other = shutil.copytree(run_folder, run_folder.parent / "other")
    model, _ = load_run(other)
    model.set_weights([0.8 * weight[::-1].copy() for weight in model.get_weights()])
    model.save(other / "model.keras")
    return other


@pytest.fixture(scope="session")
def export_folder(run_folder, written_once):
    """The first version of the run that `kerasnmt export` writes."""
    from kerasnmt.cli.export import export

    with pytest.MonkeyPatch.context() as monkeypatch:
        # Tests load the export again.
        monkeypatch.setattr(
            "kerasnmt.serving.runtimes.saved_model.export._try_out", lambda *_: None
        )
        exports = written_once("saved_models", lambda folder: export(run_folder, folder / "tiny"))
    return exports / "tiny" / "1"


@pytest.fixture(scope="session")
def lite_folder(run_folder, written_once):
    """The LiteRT model of the run that `kerasnmt export --lite` writes."""
    from kerasnmt.cli.export import export

    options = {"beam_size": 1, "weights": "int8", "lite": True}
    return written_once("lite", lambda folder: export(run_folder, folder, **options))


@pytest.fixture(scope="session")
def translator(export_folder, load_once):
    """The export, loaded with the library, for comparison."""
    return load_once(export_folder)


@pytest.fixture(scope="session")
def loaded_model(run_folder, load_run_once):
    """The run's model."""
    return load_run_once(run_folder)[0]


@pytest.fixture(scope="session")
def session(export_folder, load_export_once):
    """A session of the export, which runs the functions of `translator`."""
    from kerasnmt.serving.protocol.meta_graph import MetaGraph
    from kerasnmt.serving.runtimes.session import ServedModelSession

    session = ServedModelSession(load_export_once(export_folder))
    session.signatures = MetaGraph.from_saved_model(export_folder).signatures  # with the beam size
    return session


@pytest.fixture(scope="session")
def server(session):
    """A server of the export in this process."""
    from kerasnmt.serving import RestApp
    from kerasnmt.serving.server.web_server import web_server

    served = web_server(RestApp(session, "tiny", 1), "127.0.0.1", 0, max_requests=8)
    threading.Thread(target=served.run, daemon=True).start()
    yield f"http://127.0.0.1:{served.effective_port}"
    served.close()
    served.task_dispatcher.shutdown()

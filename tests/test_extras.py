"""Each room is imported with only the packages of its extras."""

import os
import subprocess
import sys
import textwrap

import pytest

from kerasnmt.extras import extras

BLOCK = """
import sys
from importlib import import_module


class Blocked:
    def __init__(self, *names):
        self.names = set(names)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def import_all(*rooms):
    for room in rooms:
        module = import_module(f"kerasnmt.{room}")
        for name in module.__all__:
            getattr(module, name)


def needs(package, extra, room, name):
    try:
        getattr(import_module(f"kerasnmt.{room}"), name)
    except ModuleNotFoundError as error:
        said = f"Expected the package {package}, which is not installed. "
        assert str(error) == f"{said}Install it: pip install 'kerasnmt[{extra}]'", error
    else:
        raise AssertionError(f"{room}.{name} was imported")


# Typer also needs pydantic, so the tests of the program do not block it.
TRAIN = {"pydantic", "yaml", "sacrebleu", "tensorboard"}
SERVE = {"werkzeug", "waitress", "prometheus_client", "requests", "grpc", "tensorflow_serving"}
TEXT = {"tensorflow", "tensorflow_text", "sentencepiece"}
"""

BASE = """
blocked = Blocked(*TRAIN - {"pydantic"}, *SERVE, *TEXT, "matplotlib")
sys.meta_path.insert(0, blocked)
import keras
import kerasnmt  # after Keras, which then knows its classes
assert keras.saving.get_registered_object("kerasnmt>Seq2Seq").__name__ == "Seq2Seq"
import_all("layers", "decoding", "models", "presets", "zoo", "kinds", "alignment", "runtime")
needs("tensorflow", "text", "text", "WordTokenizer")
needs("tensorflow", "text", "data", "batches")
needs("yaml", "train", "training", "Recipe")
needs("requests", "serve", "serving", "RestClient")
needs("matplotlib", "plot", "viz", "attention_figure")
import_module("kerasnmt.viz").attention_text
blocked.names.discard("matplotlib")
import_all("viz")
from kerasnmt.cli.main import main
for arguments, code in ([["--help"], 0], [["models"], 0], [["translate", "g2p_dutch"], 2]):
    sys.argv = ["kerasnmt", *arguments]
    try:
        main()
    except SystemExit as end:
        assert end.code == code, (arguments, end.code)
"""

TEXT = """
import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
blocked = Blocked(*TRAIN - {"pydantic"}, *SERVE - {"requests"}, "matplotlib")
sys.meta_path.insert(0, blocked)
import_all("text", "data", "tasks", "models", "zoo")
import tensorflow as tf
from kerasnmt.cli.main import main
from kerasnmt.tasks import Task
from kerasnmt.zoo import from_preset

# Like the fixture `eagerly`.
tf.config.run_functions_eagerly(True)
Task.function = lambda task, name: task.signatures[name]


def written(*arguments):
    sys.argv = ["kerasnmt", *map(str, arguments)]
    with redirect_stdout(io.StringIO()) as stdout:
        try:
            main()
        except SystemExit as end:
            assert not end.code, (arguments, end.code)
    return stdout.getvalue().splitlines()


model = from_preset("g2p_dutch")
with tempfile.TemporaryDirectory() as folder:
    copy, source, target = (Path(folder, name) for name in ("copy", "source", "target"))
    model.save_to_preset(copy, about={"search": {"beam_size": 2}})
    source.write_text("fiets\\n")
    target.write_text("f i t s\\n")
    assert written("translate", copy, "--input", source) == ["f i t s"]
    search = ("--search", "max_length=3")
    assert written("translate", "g2p_dutch", "--input", source, *search) == ["f i"]
    (score,) = written("score", copy, "--source", source, "--target", target)
    assert -1 < float(score) < 0
    assert written("presets", copy)[0] == "# copy"
blocked.names -= TRAIN
import_all("training")
blocked.names -= SERVE
import_all("serving")
import_module("kerasnmt.serving.server.run_server")
"""

WORDS = """
import tempfile
from pathlib import Path
sys.meta_path.insert(0, Blocked("tensorflow_text"))
import_all("text", "data", "tasks", "models", "zoo", "training", "serving")
import keras
from kerasnmt.extras import MissingPackageError
from kerasnmt.text import CharacterTokenizer, SentencePieceTokenizer, WordTokenizer
from kerasnmt.zoo import from_preset, luong_general_gru

assert CharacterTokenizer("ab").tokenize(["ba"]).to_list() == [[5, 4]]
model = luong_general_gru(WordTokenizer(["a", "b"]), units=2, embedding_dim=2)
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder, "m.keras"))
    loaded = keras.saving.load_model(Path(folder, "m.keras"))
assert loaded.source_tokenizer.tokenize(["b a"]).to_list() == [[5, 4]]
for name, made in {
    "characters": lambda: CharacterTokenizer("ab", normalization="nfd"),
    "pieces": lambda: SentencePieceTokenizer(b""),
    "trained": lambda: SentencePieceTokenizer.train(["a b"], 8),
    "preset": lambda: from_preset("g2p_dutch"),
}.items():
    try:
        made()
    except MissingPackageError as error:
        assert error.name == "tensorflow_text"
    else:
        raise AssertionError(name)
"""


@pytest.mark.parametrize(
    ("script", "backend", "said"),
    [
        (
            BASE,
            "jax",
            "error: Expected the package tensorflow, which is not installed. ",
        ),
        (TEXT, "tensorflow", ""),
        (WORDS, "tensorflow", ""),
    ],
    ids=["base", "text", "words"],
)
def test_rooms_need_only_their_packages(script, backend, said):
    if backend == "jax":
        pytest.importorskip("jax", reason="JAX is not installed")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BLOCK + script)],
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stderr


def test_other_packages_are_not_named():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_package'$"), extras():
        import no_such_package  # noqa: F401

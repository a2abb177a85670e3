import functools
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import SERVED_OPTIONS

NPM = Path(__file__).parents[2] / ".npm"
JAVASCRIPT = Path(__file__).parents[2] / "kerasnmt/serving/runtimes/web/javascript"


@pytest.fixture(scope="session")
def onnxruntime_web():
    """The folder `node_modules` with the pinned version of onnxruntime-web, installed once."""
    version = re.search(r'"version": "(.*)"', (JAVASCRIPT / "ort.js").read_text())[1]
    folder = NPM / version
    if not folder.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        NPM.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=NPM, ignore_cleanup_errors=True) as name:
            command = ["npm", "install", "--prefix", name, "--ignore-scripts", "--no-audit"]
            command.append(f"onnxruntime-web@{version}")
            try:
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
            except (subprocess.SubprocessError, OSError) as error:
                pytest.skip(f"npm cannot install onnxruntime-web: {error}")
            with suppress(OSError):  # another process was first
                os.rename(name, folder)
    return folder / "node_modules"


@pytest.fixture(scope="session")
def site(make_pointer_model, onnxruntime_web, tmp_path_factory):
    """A site with a model that copies, beside the npm package onnxruntime-web."""
    from kerasnmt.serving import export_web
    from tests.serving.runtimes.onnx_models import OPTIONS

    folder = tmp_path_factory.mktemp("web") / "site"
    model, dist = make_pointer_model(seed=56), onnxruntime_web / "onnxruntime-web/dist"
    assert export_web(model, folder, ort=dist, **OPTIONS) == str(folder)
    (folder.parent / "node_modules").symlink_to(onnxruntime_web)
    return folder


@pytest.fixture(scope="session")
def captions(written_once):
    """A model that captions images, and its export, with the search in one graph."""
    from kerasnmt.serving import export_onnx
    from tests.serving.runtimes.onnx_models import CAPTION_OPTIONS, make_captions

    model = make_captions()
    write = functools.partial(export_onnx, model, whole=True, **CAPTION_OPTIONS)
    return model, str(written_once("captions", write))


@pytest.fixture(scope="session")
def answers(written_once):
    """A memory network, and its export."""
    from kerasnmt.serving import export_onnx
    from tests.serving.runtimes.onnx_models import make_answers

    model = make_answers()
    return model, str(written_once("answers", lambda folder: export_onnx(model, folder)))


@pytest.fixture(scope="session")
def in_node():
    """A function that runs JavaScript in Node, with `data`, and returns its `answer`."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")

    def run(folder, program, data=None):
        program = (
            'import { readFileSync } from "node:fs";'
            'const data = JSON.parse(readFileSync(0, "utf8")); let answer;'
            f"{program}; console.log(JSON.stringify(answer));"
        )
        # To optimize the program of ONNX Runtime would take longer than to run tiny models.
        command = ["node", "--liftoff-only", "--input-type=module", "--eval", program]
        done = subprocess.run(
            command, cwd=folder, input=json.dumps(data), capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def served_folder(word_model, written_once):
    """The third version of an export with the name `tiny`."""

    def write(folder):
        version = str(folder / "tiny" / "3")
        assert word_model.export(version, **SERVED_OPTIONS) == version

    return written_once("served", write) / "tiny"


@pytest.fixture(scope="session")
def served_session(served_folder):
    """This export, loaded like in a server."""
    from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession

    with SavedModelSession(served_folder / "3") as session:
        yield session


@pytest.fixture(scope="session")
def saved_model(tmp_path_factory):
    """A SavedModel with a tf-text op, a table as a resource, and outputs of many dtypes."""
    import tensorflow as tf
    import tensorflow_text as tf_text

    class Lookup(tf.Module):
        def __init__(self):
            super().__init__()
            self.tokenizer = tf_text.WhitespaceTokenizer()
            entries = tf.lookup.KeyValueTensorInitializer(["hello"], ["bonjour"])
            self.table = tf.lookup.StaticHashTable(entries, "?")
            self.bias = tf.Variable(0.5)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
        def words(self, text):
            words = self.tokenizer.tokenize(text)
            found = words.with_flat_values(self.table.lookup(words.flat_values))
            return {
                "echo": text,
                "words": found.to_tensor(""),
                "lengths": tf.cast(words.row_lengths(), tf.int32),
                "score": tf.cast(tf.strings.length(text), tf.float32) + self.bias,
                "constant": tf.constant(["a constant longer than twenty-two bytes"]),
            }

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32, name="ids")])
        def double(self, ids):
            tf.debugging.assert_non_negative(ids, message="no negative ids, please")
            return {"ids": 2 * ids}

    module = Lookup()
    path = str(tmp_path_factory.mktemp("export") / "1")
    signatures = {"serving_default": module.words, "double": module.double}
    tf.saved_model.save(module, path, signatures=signatures)
    return path


@pytest.fixture(scope="session")
def story_model():
    """A tiny memory network with large random weights and the state of an optimizer."""
    import keras

    from kerasnmt.text import PlainWordTokenizer
    from kerasnmt.zoo import memory_network
    from tests.numerics import fill

    words = ["mary", "john", "went", "home", "away", "where", "is", "home,away"]
    model = memory_network(PlainWordTokenizer(words), embedding_dim=6, max_sentences=3)
    fill(model, scale=0.7)
    model.hop.linear.assign(0.0)
    model.compile(keras.optimizers.Adam(0.01))
    return model


@pytest.fixture(scope="session")
def story_folder(story_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports") / "qa"
    assert story_model.export(str(folder / "1")) == str(folder / "1")
    return folder


@pytest.fixture(scope="session")
def story_session(story_folder):
    from kerasnmt.serving.runtimes.saved_model.session import SavedModelSession

    with SavedModelSession(story_folder / "1") as session:
        yield session


@contextmanager
def only_signatures(*names):
    """Give exports only these signatures, because each takes seconds to trace."""
    from kerasnmt.serving import ExportModule

    only = property(lambda self: {name: self._task.signatures[name] for name in names})
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(ExportModule, "signatures", only)
        yield


@pytest.fixture
def untraced(monkeypatch):
    """Write exports without graphs, for tests that do not run them."""
    runtimes = "kerasnmt.serving.runtimes"
    monkeypatch.setattr(f"{runtimes}.export_module.ExportModule.signatures", {})
    monkeypatch.setattr(f"{runtimes}.export_module.ExportModule.examples", lambda self: {})
    monkeypatch.setattr(f"{runtimes}.saved_model.export._try_out", lambda *_: None)


def description_of(model, source_kind, target_kind, **options):
    """Return the description of an export of a model that translates, without its examples."""
    from kerasnmt.decoding import SearchOptions

    return {
        "inputs": ["text"],
        "model": model,
        **asdict(SearchOptions(**options)),
        "replace_unknown": False,
        "split_sentences": False,
        "split_words": False,
        "sentence_case": False,
        "lexicon": False,
        "shortlist": False,
        "weights": "float32",
        "source_kind": source_kind,
        "target_kind": target_kind,
        "source_tags": [],
        "default_tags": "",
    }


def failed(report):
    """Return the details of the failed rows of a check, by the names of the rows."""
    return {row.name: row.detail for row in report.rows if not row.passed}


def details(report):
    return {row.name: row.detail for row in report.rows}


def write_warmup(version, *records):
    import tensorflow as tf

    path = version / "assets.extra" / "tf_serving_warmup_requests"
    with tf.io.TFRecordWriter(str(path)) as file:
        for record in records:
            file.write(record)
    return path


class ServedHere:
    """`SessionProcess` without a child process, whose outputs `change` may change."""

    def __init__(self, directory, timeout):
        self.directory = directory

    @functools.cached_property
    def session(self):
        from kerasnmt.serving.runtimes.registry import find_runtime

        runtime, export = find_runtime(self.directory)
        return runtime.open(export)

    def op_support(self):
        from kerasnmt.serving.runtimes.saved_model.c_api import op_support

        return op_support(self.directory)

    @property
    def signatures(self):
        return self.session.signatures

    def run(self, signature, inputs):
        return self.change(signature, inputs, self.session.run(signature, inputs))

    @staticmethod
    def change(signature, inputs, outputs):
        return outputs

    def resident_memory(self):
        return 100_000_000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if "session" in self.__dict__:
            self.session.close()


@pytest.fixture
def served_here(monkeypatch):
    """Run the check of exports in this process; return the class that replaces `SessionProcess`."""
    from kerasnmt.serving.check import check_export

    here = type("ServedHere", (ServedHere,), {})
    monkeypatch.setattr(check_export, "SessionProcess", here)
    return here


@pytest.fixture(scope="session")
def expected(served_folder):
    """This export, loaded with the library."""
    from kerasnmt.serving import Translator, load_export

    return Translator(load_export(served_folder))


# Terms of texts whose fourth is empty.
TERMS = {
    "terms": [["ab"], ["e", ["xyz", "dd c"]], [], None, *[[]] * 3],
    "forbidden": [[], ["b"], ["a", "d"], *[[]] * 4],
}


def assert_all_signatures(translator, expected, texts):
    """Assert that a translator gives what this export gives, for texts whose fourth is empty."""
    for mine, other in (
        (translator.best(texts), expected.best(texts)),
        (translator.n_best(texts)[0], expected.n_best(texts)[0]),
        (translator.n_best(texts)[3], [("", 0.0)]),
        (translator.best(texts, **TERMS), expected.best(texts, **TERMS)),
    ):
        assert [text for text, _ in mine] == [text for text, _ in other]
        scores = [score for _, score in other]
        assert [score for _, score in mine] == pytest.approx(scores, abs=1e-5)
    for some in (texts, ["", "  "]):  # of the last the lists of weights are empty
        found, wanted = translator.attention(some), expected.attention(some)
        for one, other in zip(found, wanted, strict=True):
            assert one.source_tokens == other.source_tokens
            assert one.target_tokens == other.target_tokens
            assert one.weights.dtype == np.float32
            np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)


@pytest.fixture(scope="session")
def rest_app(served_session):
    """This export with the routes of TF Serving."""
    from kerasnmt.serving import RestApp

    return RestApp(
        served_session, "tiny", 3, max_body_bytes=20_000, max_batch=100, max_text_bytes=3_000
    )


@pytest.fixture(scope="module")
def start():
    """Start a server with a WSGI application; return its URL."""
    from kerasnmt.serving.server.web_server import web_server

    servers = []

    def start(app, **options):
        server = web_server(app, "127.0.0.1", 0, **{"max_requests": 8, **options})
        servers.append(server)
        threading.Thread(target=server.run, daemon=True).start()
        return f"http://127.0.0.1:{server.effective_port}"

    yield start
    for server in servers:
        server.close()
        server.task_dispatcher.shutdown()


@pytest.fixture
def unused_port():
    """A port on which no process listens during the test."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]

import functools
import socket
import threading

import pytest

from tests.conftest import SERVED_OPTIONS


@pytest.fixture(scope="session")
def served_folder(word_model, tmp_path_factory):
    """The third version of an export with the name `tiny`."""
    directory = tmp_path_factory.mktemp("served") / "tiny"
    version = str(directory / "3")
    assert word_model.export(version, **SERVED_OPTIONS) == version
    return directory


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


class ServedHere:
    """`SessionProcess` without a child process, with the same answers in a third of the time."""

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
        return self.session.run(signature, inputs)

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

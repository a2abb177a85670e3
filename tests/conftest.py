"""Settings of all tests: the CPU, TensorFlow, few messages, and fixed random numbers."""

import gc
import os
import random
import shutil
from importlib.util import find_spec
from urllib.parse import urlsplit

# TensorFlow and Keras read these when they are imported, so they are set before any test module.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Tests of other backends start a child process.
os.environ["KERAS_BACKEND"] = "tensorflow"
# `kerasnmt train` sets it too, and would change it for the tests that follow.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# Compiled code runs only a few times here, so optimizing it would take most of the time.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

# By default, tf2onnx copies the graph before each optimization and hides errors. Exports of users
# keep this default.
os.environ.setdefault("TF2ONNX_CATCH_ERRORS", "FALSE")

import numpy as np
import pytest

from tests.affected import Affected, add_options
from tests.slowest_files import SlowestFiles

# Graphs are made of many small objects, and most of them stay: to look for garbage less often
# saves a tenth of the time.
gc.set_threshold(100_000)


def pytest_addoption(parser):
    add_options(parser)


def pytest_configure(config):
    config.pluginmanager.register(SlowestFiles())
    config.pluginmanager.register(Affected(config))
    # Pytest-randomly shuffles the tests; the numbers that they draw stay the same.
    config.option.randomly_reset_seed = False


def pytest_collection_modifyitems(items):
    for item in items:
        for name in ("long", "thorough"):
            if any(not mark.args for mark in item.iter_markers(name)):
                raise pytest.UsageError(
                    f"{item.nodeid}: expected the reason for the mark, "
                    f'as in @pytest.mark.{name}("trains for a minute")'
                )
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef):
    """Seed each shared fixture, so that it does not depend on the test that first uses it."""
    if fixturedef.scope != "function":
        set_seeds()


@pytest.fixture(scope="session", autouse=True)
def plain_graphs():
    """Run graphs as they were traced, because to optimize them takes longer than to run them."""
    if find_spec("tensorflow") is not None:
        optimize_graphs(False)


@pytest.fixture
def optimized_graphs():
    """Optimize graphs, as in a child process, so that the last digits of both are the same."""
    optimize_graphs(True)
    yield
    optimize_graphs(False)


def optimize_graphs(optimized):
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not optimized})


@pytest.fixture(autouse=True)
def seeds():
    set_seeds()


def set_seeds():
    """Seed Python, from which Keras draws its seeds, and NumPy.

    `keras.utils.set_random_seed` would also seed TensorFlow, which then optimizes all functions
    again that were traced before.
    """
    random.seed(0)
    np.random.seed(0)


@pytest.fixture
def eagerly(monkeypatch):
    """Run functions and translators eagerly, for tests that do not depend on graphs."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    # A `Translator` would keep the graph of a signature.
    from kerasnmt.tasks import Task

    monkeypatch.setattr(Task, "function", lambda task, name: task.signatures[name])
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture(scope="session")
def on_jax():
    """A function that runs others in a process with JAX, where TensorFlow cannot be imported."""
    from tests.other_backend import other_backend

    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    with other_backend("jax") as run:
        yield run


@pytest.fixture(scope="session")
def forms():
    """Functions that convert texts to a list, an array and other containers."""
    import pandas
    import tensorflow as tf

    return {
        "list": list,
        "tuple": tuple,
        "array": np.array,
        "tensor": tf.constant,
        "series": pandas.Series,
        "generator": lambda texts: (text for text in texts),
    }


@pytest.fixture(params=["list", "tuple", "array", "tensor", "series", "generator"])
def holding(forms, request):
    """One of these functions."""
    return forms[request.param]


# Arguments without texts, and the end of the error.
NO_TEXTS = {
    "none": (None, "=None, of type NoneType"),
    "bytes": (b"dog", "=b'dog', of type bytes"),
    "number": (7, "=7, of type int"),
    "string": ("dog", "='dog', one string"),
    "dict": ({"dog": 1}, "={'dog': 1}, of type dict"),
    "array of one": (np.array("dog"), "='dog', one string"),
    "list of bytes": (["dog", b"dog"], " whose item 2 is b'dog', of type bytes"),
    "list of numbers": ([7], " whose item 1 is 7, of type int"),
    "array of numbers": (np.ones(2), f" whose item 1 is {np.float64(1)!r}, of type float64"),
    "pairs": ([("dog", "dog")], " whose item 1 is ('dog', 'dog'), of type tuple"),
}


@pytest.fixture(params=NO_TEXTS)
def no_texts(request):
    """An argument without texts, and the end of its error message."""
    return NO_TEXTS[request.param]


# The search options of the one export that most tests share.
SERVED_OPTIONS = {"beam_size": 3, "length_penalty": 0.6, "max_length": 12}

SENTENCES = [
    "two dogs run .",
    "a man reads .",
    "dog",
    "",
    "a dog runs . a man runs .",
    "   ",
    "cat",
]


@pytest.fixture
def sentences():
    return list(SENTENCES)


WORDS = ["a", "dog", "man", "two", "dogs", "run", "runs", "reads", "."]


@pytest.fixture(scope="session")
def make_translator_model():
    """Create a tiny model from words to characters, with large random weights."""
    from kerasnmt.text import CharacterTokenizer, WordTokenizer
    from kerasnmt.zoo import bahdanau_gru
    from tests.numerics import fill

    def make(seed=50, source=None):
        source = source or WordTokenizer(WORDS)
        target = CharacterTokenizer("abc de")
        model = bahdanau_gru(source, target, embedding_dim=6, units=5, dropout=0.0)
        fill(model, seed, scale=1.3)
        bias = model.decoder.generator.bias.numpy()
        bias[[1, 3]] += [-3.0, 0.5]  # few unknowns, some ends
        model.decoder.generator.bias.assign(bias)
        return model

    return make


@pytest.fixture(scope="session")
def word_model(make_translator_model):
    """A model of `make_translator_model` with an optimizer, which tests must not change."""
    import keras

    model = make_translator_model()
    model.compile(keras.optimizers.Adam(0.01))
    model.optimizer.build(model.trainable_variables)
    return model


@pytest.fixture(scope="session")
def word_module(word_model):
    """The export module of that model, traced once."""
    from kerasnmt.serving import ExportModule

    return ExportModule(word_model, **SERVED_OPTIONS)


@pytest.fixture(scope="session")
def written_once(tmp_path_factory):
    """A function that returns a folder, which the first process of pytest-xdist writes."""
    import fcntl

    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def written_once(name, write):
        folder = root / name
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                unfinished = root / f"{name}-unfinished"
                shutil.rmtree(unfinished, ignore_errors=True)
                write(unfinished)
                unfinished.rename(folder)
        return folder

    return written_once


@pytest.fixture(scope="session")
def make_pointer_model():
    """Create a tiny model that copies, with one vocabulary and large random weights."""
    from kerasnmt import zoo
    from kerasnmt.text import WordTokenizer
    from tests.numerics import fill

    def make(name="pointer_generator_gru", seed=50):
        constructor = getattr(zoo, name)
        model = constructor(WordTokenizer(WORDS), embedding_dim=6, units=5, dropout=0.0)
        return fill(model, seed, scale=1.3)

    return make


# A test waits at most this many seconds for what must come. On a busy machine, a browser or a
# server may need minutes for a few seconds of work.
PATIENCE = 600

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


# Playwright keeps an event loop in this thread, so the browser ends before another module's tests.
@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"expected a browser, one of {', '.join(BROWSERS)}; none is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            # To optimize the program of ONNX Runtime would take longer than to run it a few times.
            args=["--no-sandbox", "--disable-gpu", "--js-flags=--liftoff-only"],
            timeout=1000 * PATIENCE,
        )
        yield browser
        browser.close()


@pytest.fixture
def faults():
    """Messages and errors of a page's scripts, its dialogs, and its requests to other hosts.

    A test fails if there are any at its end. One that expects some removes them.
    """
    faults = []
    yield faults
    assert faults == []


@pytest.fixture
def tab(browser, faults):
    """A tab of the browser, of 1000 by 800 pixels."""

    def on_dialog(dialog):
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_request(request):
        if urlsplit(request.url).hostname not in (None, "", "127.0.0.1"):
            faults.append(f"request: {request.url}")

    context = browser.new_context(viewport={"width": 1000, "height": 800})
    context.set_default_timeout(60_000)
    context.set_default_navigation_timeout(1000 * PATIENCE)
    tab = context.new_page()
    tab.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
    tab.on("dialog", on_dialog)
    tab.on("request", on_request)
    yield tab
    context.close()


def wait_for_answer(tab):
    """Wait until the page of a model answers, or says what is wrong."""
    ended = tab.locator("#status.error, #status:has-text('answered in')")
    ended.wait_for(timeout=1000 * PATIENCE)

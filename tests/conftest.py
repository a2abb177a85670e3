"""What holds for all tests: the CPU, TensorFlow, few messages, and the same random numbers."""

import gc
import os
import random
import sys

# TensorFlow and Keras read these when they are imported, so they are set before any test module.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Tests of another backend start a process of their own.
os.environ["KERAS_BACKEND"] = "tensorflow"
# `kerasnmt train` sets it too, and would change it for the tests that follow.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# Compiled code runs only a few times here: to optimize it would take most of the time.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

import numpy as np
import pytest

from tests.slowest_files import SlowestFiles

# Graphs are made of many small objects, and most of them stay: to look for garbage less often
# saves a tenth of the time.
gc.set_threshold(100_000)


def pytest_configure(config):
    config.pluginmanager.register(SlowestFiles())
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
    """A shared fixture draws the same numbers whichever test asks for it first."""
    if fixturedef.scope != "function":
        set_seeds()


@pytest.fixture(autouse=True)
def seeds():
    set_seeds()


def set_seeds():
    random.seed(0)
    np.random.seed(0)
    # Where a test imports Keras itself, it seeds what it makes.
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)


@pytest.fixture
def eagerly(monkeypatch):
    """Run functions and translators eagerly, in tests that are not about their graphs."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    # A `Translator` would keep the graph of a signature.
    from kerasnmt.serving import ExportModule

    monkeypatch.setattr(ExportModule, "function", lambda module, name: module.signatures[name])
    yield
    tf.config.run_functions_eagerly(False)

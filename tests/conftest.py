"""What holds for all tests: the CPU, few messages, and the same random numbers every time."""

import gc
import os
import random
import sys

# Read by TensorFlow and Keras when they are imported, so set before any test module is.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
# As `kerasnmt train` sets it, which would reach the tests that come after one of it.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# What is compiled here runs a few times only: optimizing it would take most of the time.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

import numpy as np
import pytest

# Graphs are made of many small objects, and few of them go: looking for those less often saves a
# tenth of the time.
gc.set_threshold(100_000)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True)
def seeds():
    random.seed(0)
    np.random.seed(0)
    # Where a test imports Keras itself, it seeds what it makes.
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)

"""What holds for all tests: the CPU, few messages, and the same random numbers every time."""

import os
import random
import sys

# Read by TensorFlow and Keras when they are imported, so set before any test module is.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def seeds():
    random.seed(0)
    np.random.seed(0)
    # Where a test imports Keras itself, it seeds what it makes.
    if "keras" in sys.modules:
        sys.modules["keras"].utils.set_random_seed(0)

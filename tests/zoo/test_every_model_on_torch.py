"""One model of every part of the zoo on PyTorch: forward passes."""

from importlib.util import find_spec

import pytest

from tests.other_backend import assert_equal, other_backend
from tests.zoo.on_any_backend import outputs
from tests.zoo.tiny_models import COMPILED

pytestmark = [
    pytest.mark.thorough("a further backend"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]


@pytest.fixture(scope="module")
def on_torch():
    with other_backend("torch") as run:
        yield run


@pytest.mark.parametrize("case", COMPILED)
def test_equals_tensorflow(on_torch, case):
    assert_equal(outputs, case, run=on_torch)

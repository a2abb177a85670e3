"""One model of every part of the zoo on JAX, in a process without TensorFlow."""

import pytest

from tests.other_backend import assert_equal
from tests.zoo.on_any_backend import outputs, search_and_training
from tests.zoo.tiny_models import COMPILED

pytestmark = [
    pytest.mark.long("compiles models in a process with JAX"),
    pytest.mark.thorough("tests/models/test_on_jax.py shows it of other models"),
]


@pytest.mark.parametrize("case", COMPILED)
def test_equals_tensorflow(on_jax, case):
    assert_equal(outputs, case, run=on_jax)
    tolerances = {"ids": {"atol": 0}, "scores": {"atol": 1e-4}, "losses": {"rtol": 1e-5}}
    assert_equal(search_and_training, case, run=on_jax, **tolerances)

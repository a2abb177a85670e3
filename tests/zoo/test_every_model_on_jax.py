"""One model of every part of the zoo on JAX, in a process without TensorFlow."""

from importlib.util import find_spec

import numpy as np
import pytest

from tests.zoo.backend_process import ALIGNMENTS, made_on
from tests.zoo.tiny_models import (
    COMPILED,
    OPTIONS,
    example,
    log_probabilities,
    make,
    marks,
    shared,
)

pytestmark = pytest.mark.long("compiles models in a process with JAX")

ALWAYS = ["pointer_generator_lstm coverage", "transformer_tiny"]
TRAINED = ["luong_local_p_lstm feeding coverage", "pointer_generator_lstm coverage"]
SEARCHED = ["history_attention_gru coverage", "luong_local_p_lstm feeding coverage"]


@pytest.fixture(scope="module")
def made(request, tmp_path_factory):
    """The results of JAX for the selected cases, which all tests of this file share."""
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    tests = [test for test in request.session.items if test.path == request.path]
    cases = dict.fromkeys(test.callspec.params["case"] for test in tests)
    return made_on("jax", tmp_path_factory.mktemp("jax"), cases, TRAINED, SEARCHED)


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=marks(case, ALWAYS)) for case in COMPILED]
)
def test_equals_tensorflow(made, case):
    model = shared(case)
    inputs, targets = example(model)
    expected = log_probabilities(model, model(inputs))
    np.testing.assert_allclose(made[f"{case}/log_probabilities"], expected, atol=1e-5)
    assert (f"{case}/weights" in made) == model.has_attention
    if model.has_attention:
        for key, record in model.attend(inputs).items():
            np.testing.assert_allclose(made[f"{case}/{key}"], record, atol=1e-5)
    if case in SEARCHED:
        found = model.search(inputs, beam_size=3, n_best=2, max_length=6)
        np.testing.assert_array_equal(made[f"{case}/ids"], found.ids)
        np.testing.assert_allclose(made[f"{case}/scores"], found.scores, atol=1e-4)
    if case in TRAINED:
        name, options = OPTIONS[case]
        model = make(name, **options)
        model.compile("sgd", label_smoothing=0.1, guided_attention=0.5, run_eagerly=True)
        guided = {**inputs, "alignments": ALIGNMENTS}
        losses = model.fit(guided, targets, epochs=2, verbose=0).history["loss"]
        np.testing.assert_allclose(made[f"{case}/losses"], losses, rtol=1e-5)

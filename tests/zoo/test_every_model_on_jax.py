"""One of every part of the zoo on JAX, in a process where TensorFlow cannot be imported."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from tests.zoo.tiny_models import (
    COMPILED,
    COPIED_TARGETS,
    IN_CONTEXT,
    INPUTS,
    OPTIONS,
    TARGETS,
    example,
    log_probabilities,
    make,
    marks,
    shared,
    sizes,
)

pytestmark = pytest.mark.long("compiles models in a process with JAX")

CASES = {case: OPTIONS[case] for case in COMPILED}
ALWAYS = ["pointer_generator_lstm coverage", "transformer_tiny"]
TRAINED = ["luong_local_p_lstm feeding coverage", "pointer_generator_lstm coverage"]
SEARCHED = ["history_attention_gru coverage", "luong_local_p_lstm feeding coverage"]
SCRIPT = """
import json
import sys

for name in ("tensorflow", "tensorflow_text", "tf_keras"):
    sys.modules[name] = None
import numpy as np

from kerasnmt import zoo

given = dict(np.load(sys.argv[1]))
made = {}
for case, (name, options) in json.loads(sys.argv[3]).items():
    copying = name.startswith(("pointer", "context"))
    inputs = {key: given["copying/" * copying + key] for key in ("source_ids", "target_ids")}
    if copying:
        inputs["extended_source_ids"] = given["copying/extended_source_ids"]
    if name.startswith("context"):
        for key in ("context_ids", "extended_context_ids"):
            inputs[key] = given[f"copying/{key}"]
    model = zoo.get_model(name)(13 if copying else 11, None if copying else 13, **options)
    model.set_weights([given[f"{case}/{i}"] for i in range(len(model.weights))])
    made[f"{case}/log_probabilities"] = model.decoder.next_log_probability(model(inputs))
    if model.has_attention:
        for key, record in model.attend(inputs).items():
            made[f"{case}/{key}"] = record
    if case in json.loads(sys.argv[5]):
        found = model.search(inputs, beam_size=3, n_best=2, max_length=6)
        made[f"{case}/ids"], made[f"{case}/scores"] = found.ids, found.scores
    if case in json.loads(sys.argv[4]):  # an added loss, and the loss of guided attention beside it
        model.compile("sgd", label_smoothing=0.1, guided_attention=0.5)
        guided = {**inputs, "alignments": given["alignments"]}
        targets = given["copying/" * copying + "targets"]
        history = model.fit(guided, targets, epochs=2, verbose=0)
        made[f"{case}/losses"] = history.history["loss"]
np.savez(sys.argv[2], **{key: np.asarray(value) for key, value in made.items()})
"""


@pytest.fixture(scope="module")
def alignments():
    return np.eye(5, dtype="float32")[None, [4, 0, 2, 1]] * (TARGETS != 0)[..., None]


@pytest.fixture(scope="module")
def made(request, tmp_path_factory, alignments):
    """What JAX makes of the selected cases; all tests of this file have one."""
    if find_spec("jax") is None:
        pytest.skip("jax is not installed")
    folder = tmp_path_factory.mktemp("jax")
    tests = [test for test in request.session.items if test.path == request.path]
    cases = {case: CASES[case] for case in (test.callspec.params["case"] for test in tests)}
    weights = {}
    for case, (name, options) in cases.items():
        for i, weight in enumerate(make(name, **options).get_weights()):
            weights[f"{case}/{i}"] = weight
    copying = {f"copying/{key}": value for key, value in IN_CONTEXT.items()}
    copying["copying/targets"] = COPIED_TARGETS
    np.savez(
        folder / "in.npz", **INPUTS, **copying, **weights, targets=TARGETS, alignments=alignments
    )
    cases = {case: (name, {**sizes(name), **options}) for case, (name, options) in cases.items()}
    done = subprocess.run(
        [
            *(sys.executable, "-c", SCRIPT, folder / "in.npz", folder / "out.npz"),
            *(json.dumps(cases), json.dumps(TRAINED), json.dumps(SEARCHED)),
        ],
        env={**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(np.load(folder / "out.npz"))


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks(case, ALWAYS)) for case in CASES])
def test_equals_tensorflow(made, alignments, case):
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
        name, options = CASES[case]
        model = make(name, **options)
        model.compile("sgd", label_smoothing=0.1, guided_attention=0.5, run_eagerly=True)
        guided = {**inputs, "alignments": alignments}
        losses = model.fit(guided, targets, epochs=2, verbose=0).history["loss"]
        np.testing.assert_allclose(made[f"{case}/losses"], losses, rtol=1e-5)

"""One model of every part of the zoo on PyTorch: forward passes, and errors for text."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from tests.zoo.backend_process import made_on
from tests.zoo.tiny_models import COMPILED, example, log_probabilities, shared

pytestmark = [
    pytest.mark.thorough("a further backend"),
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]
# Each calls a method on text, which must raise an error.
REFUSED = {
    "translate": "model.translate(['a b'])",
    "score": "model.score(['a b'], ['b'])",
    "align": "model.align(['a b'], ['b'])",
    "attention": "model.attention('a b')",
    "fit": "model.fit([('a b', 'b')])",
    "export": "model.export('exports/1')",
    "train": "train(recipe, 'run')",
}
SCRIPT = """
import json
import sys

from kerasnmt.text import WordTokenizer
from kerasnmt.training import Recipe, train
from kerasnmt.zoo import luong_dot_lstm

pairs = [("a b", "b a"), ("b", "b")]
model = luong_dot_lstm(WordTokenizer.train(pairs, 6), units=4, embedding_dim=4)
model.compile()
recipe = Recipe.from_dict({
    "model": {"name": "luong_dot_lstm"},
    "tokenizer": {"shared": {"kind": "words", "vocabulary_size": 9}},
    "data": {"train": {"builtin": 20}, "validation": {"builtin": 4}},
})
errors = {}
for name, call in json.loads(sys.argv[1]).items():
    try:
        eval(call)
    except ValueError as error:
        errors[name] = str(error)
print(json.dumps(errors))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The results of PyTorch for all cases."""
    return made_on("torch", tmp_path_factory.mktemp("torch"), COMPILED)


@pytest.mark.parametrize("case", COMPILED)
def test_equals_tensorflow(made, case):
    model = shared(case)
    inputs, _ = example(model)
    expected = log_probabilities(model, model(inputs))
    np.testing.assert_allclose(made[f"{case}/log_probabilities"], expected, atol=1e-5)
    if model.has_attention:
        for key, record in model.attend(inputs).items():
            np.testing.assert_allclose(made[f"{case}/{key}"], record, atol=1e-5)


def test_text_is_refused_in_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(REFUSED)],
        cwd=tmp_path,
        env={**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    errors = json.loads(done.stdout.splitlines()[-1])
    assert {*errors} == {*REFUSED}
    for error in errors.values():
        assert "backend='torch'. Set KERAS_BACKEND=tensorflow" in error
        assert "\n" not in error
    assert not [*tmp_path.iterdir()]

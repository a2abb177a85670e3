"""One model of every part of the zoo on PyTorch: forward passes, and errors for text."""

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


def errors(folder):
    """Return the errors of methods that take text."""
    from kerasnmt.text import WordTokenizer
    from kerasnmt.training import Recipe, train
    from kerasnmt.zoo import luong_dot_lstm

    pairs = [("a b", "b a"), ("b", "b")]
    model = luong_dot_lstm(WordTokenizer.train(pairs, 6), units=4, embedding_dim=4)
    model.compile()
    recipe = Recipe.from_dict(
        {
            "model": {"name": "luong_dot_lstm"},
            "tokenizer": {"shared": {"kind": "words", "vocabulary_size": 9}},
            "data": {"train": {"builtin": 20}, "validation": {"builtin": 4}},
        }
    )
    calls = {
        "translate": lambda: model.translate(["a b"]),
        "score": lambda: model.score(["a b"], ["b"]),
        "align": lambda: model.align(["a b"], ["b"]),
        "attention": lambda: model.attention("a b"),
        "fit": lambda: model.fit([("a b", "b")]),
        "export": lambda: model.export(f"{folder}/exports/1"),
        "train": lambda: train(recipe, f"{folder}/run"),
    }
    found = dict.fromkeys(calls, "no error")
    for name, call in calls.items():
        try:
            call()
        except ValueError as error:
            found[name] = str(error)
    return found


def test_text_is_refused_in_one_line(tmp_path):
    with other_backend("torch", blocked=()) as run:
        found = run(errors, tmp_path)
    for name, error in found.items():
        assert "backend='torch'. Set KERAS_BACKEND=tensorflow" in error, name
        assert "\n" not in error
    assert not [*tmp_path.iterdir()]

"""Errors on other backends of Keras, which the tests only pretend to use."""

import keras
import pytest

from kerasnmt.backends import need_export_backend, need_text_backend
from kerasnmt.text import WordTokenizer
from kerasnmt.training import Recipe, train
from kerasnmt.zoo import luong_dot_lstm


@pytest.fixture
def backend(monkeypatch):
    """A function that sets the name of the backend."""
    return lambda name: monkeypatch.setattr(keras.backend, "backend", lambda: name)


@pytest.mark.parametrize(
    ("name", "text", "exports"),
    [("tensorflow", True, True), ("jax", True, False), ("torch", False, False)],
)
def test_what_a_backend_does(backend, name, text, exports):
    backend(name)
    for need, able in ((need_text_backend, text), (need_export_backend, exports)):
        if able:
            need()
        else:
            with pytest.raises(
                ValueError, match=rf"backend='{name}'\. Set KERAS_BACKEND=tensorflow"
            ):
                need()


def test_text_is_refused_before_anything_is_written(backend, tmp_path):
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
    backend("torch")
    for call in (
        lambda: model.translate(["a"]),
        lambda: model.score(["a"], ["b"]),
        lambda: model.align(["a"], ["b"]),
        lambda: model.attention("a"),
        lambda: model.fit(pairs),
        lambda: model.export(tmp_path / "1"),
        lambda: train(recipe, tmp_path / "run"),
    ):
        with pytest.raises(ValueError, match=r"backend='torch'\. Set KERAS_BACKEND=tensorflow"):
            call()
    backend("jax")
    with pytest.raises(ValueError, match=r"backend='jax'\. Set KERAS_BACKEND=tensorflow"):
        model.export(tmp_path / "1")
    recipe = recipe.model_copy(deep=True)
    recipe.training.devices = 2
    with pytest.raises(
        ValueError, match=r"training\.devices to be at most \d, the number of CPUs that JAX sees"
    ):
        train(recipe, tmp_path / "run")
    # Training creates the folder of its run, to lock it.
    assert not [path for path in tmp_path.rglob("*") if path.name not in ("run", ".lock")]

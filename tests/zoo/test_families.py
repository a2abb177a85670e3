"""Members have the keywords of their family, in signature, docstring and call."""

import inspect

import pytest

from kerasnmt import zoo
from kerasnmt.models import Seq2Seq
from kerasnmt.zoo.luong import luong
from kerasnmt.zoo.transformer import transformer


def keywords(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def test_signatures():
    family = keywords(luong)
    assert family["bidirectional"] is True and family["encoder_units"] is None
    assert keywords(zoo.luong_general_gru) == family
    assert list(keywords(zoo.luong_general_gru)) == list(family)
    # A member does not have the keywords that it sets. Its own keywords follow.
    dot = {name: family[name] for name in family if name != "encoder_units"}
    assert keywords(zoo.luong_dot_lstm) == dot
    windowed = {name: family[name] for name in family if name != "attention"}
    assert keywords(zoo.luong_local_p_lstm) == {**windowed, "width": 10}
    del windowed["coverage"]
    assert keywords(zoo.luong_location_lstm) == {**windowed, "max_length": 100}
    assert keywords(zoo.transformer_base) == keywords(transformer)
    tiny = keywords(zoo.transformer_tiny)
    assert (tiny["units"], tiny["pre_norm"], tiny["tie_embeddings"]) == (128, True, True)
    annotation = inspect.signature(zoo.luong_dot_lstm).parameters["coverage"].annotation
    assert annotation == float | None
    assert inspect.signature(zoo.luong_dot_lstm).return_annotation is Seq2Seq


def test_docstrings():
    text = zoo.luong_location_lstm.__doc__
    first, *_ = text.splitlines()
    assert first.startswith("Luong's model with LSTM cells and the location score")
    order = [
        *("Luong's encoder-decoder", "Source: Luong", "Args:\n    source: ", "\n    units: "),
        *("\n    dropout: ", "\n    max_length: ", "Returns:\n", "Raises:\n"),
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "coverage:" not in text and "score:" not in text
    for name in zoo.list_models():
        text = zoo.get_model(name).__doc__
        parameters = inspect.signature(zoo.get_model(name)).parameters
        assert [text.count(f"\n    {key}: ") for key in parameters] == [1] * len(parameters)
        assert max(map(len, text.splitlines())) <= 96


def test_names():
    assert zoo.luong_dot_lstm.__name__ == zoo.luong_dot_lstm.__qualname__ == "luong_dot_lstm"
    assert zoo.luong_dot_lstm(9, units=4).name == "luong_dot_lstm"
    assert zoo.luong_dot_lstm(source=9, target=8, units=4).name == "luong_dot_lstm"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": 4}, "luong_dot_lstm: unknown keyword 'unit'; did you mean 'units'?"),
        ({"encoder_units": 4}, "luong_dot_lstm: unknown keyword 'encoder_units'; "),
        ({"score": None}, "luong_dot_lstm: unknown keyword 'score'; "),
        ({"name": "other"}, "luong_dot_lstm: unknown keyword 'name'; "),
    ],
)
def test_unknown_keywords(options, message):
    with pytest.raises(TypeError) as caught:
        zoo.luong_dot_lstm(9, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("sides", [(), (9, 9, 4)])
def test_wrong_sides(sides):
    with pytest.raises(TypeError, match=r"missing a required argument|too many positional"):
        zoo.luong_dot_lstm(*sides)

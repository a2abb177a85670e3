import pytest

from kerasnmt.training.checks import check_model


def problem(name, **keywords):
    with pytest.raises(ValueError) as caught:
        check_model(name, keywords)
    return str(caught.value)


def test_good_keywords():
    check_model("bahdanau_gru", {"units": 8, "dropout": 0, "tie_embeddings": True})
    for coverage in (None, 1, 0.5):
        check_model("bahdanau_gru", {"coverage": coverage})
    check_model("luong_dot_lstm", {"bidirectional": False, "units": 7})
    check_model("pointer_generator_gru", {"own_pointer": True})


def test_unknown_names():
    assert problem("bahdanau_gur") == "unknown model 'bahdanau_gur'; did you mean 'bahdanau_gru'?"
    assert problem("bahdanau_gru", unit=8) == (
        "unknown key 'model.unit'; did you mean 'model.units'?"
    )
    # A member of a family has the keywords of the family, except those that it sets.
    assert problem("luong_dot_lstm", bidirectionl=False) == (
        "unknown key 'model.bidirectionl'; did you mean 'model.bidirectional'?"
    )
    assert problem("luong_dot_lstm", encoder_units=8).startswith(
        "unknown key 'model.encoder_units'"
    )
    assert problem("luong_dot_lstm", score="dot").startswith("unknown key 'model.score'")
    assert problem("memory_network").startswith("Expected the name of a Seq2Seq, one of bahdanau_")
    # The tokenizers are arguments of the constructor, but not keys of a recipe.
    assert problem("bahdanau_gru", source=8).startswith("unknown key 'model.source'; known: ")


@pytest.mark.parametrize(
    ("key", "value", "kind", "default"),
    [
        ("units", "many", "int", "256"),
        ("units", 8.0, "int", "256"),
        ("units", True, "int", "256"),
        ("dropout", "0.1", "float", "0.2"),
        ("tie_embeddings", 1, "bool", "false"),
        ("coverage", "yes", "float or null", "null"),
    ],
)
def test_types(key, value, kind, default):
    assert problem("bahdanau_gru", **{key: value}) == (
        f"Expected model.{key} to be of type {kind}; its default is {default}. "
        f"Received: model.{key}={value!r}"
    )


def test_sizes_that_no_memory_holds():
    assert problem("bahdanau_gru", units=10**12) == (
        "Expected model.units to be at most 100000. Received: model.units=1000000000000"
    )
    check_model("bahdanau_gru", {"units": 100_000})

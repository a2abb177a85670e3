import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import Ensemble, in_float32
from kerasnmt.text import PlainWordTokenizer, WordTokenizer
from tests.numerics import dtype_policy, fill

WORDS = ["a", "dog", "man", "two", "dogs", "run", "."]
SIZES = {"embedding_dim": 4, "units": 4, "dropout": 0.0}
TRANSLATION = {
    "source_ids": np.array([[4, 8, 10, 3], [6, 9, 3, 0]], "int32"),
    "target_ids": np.array([[2, 5, 10], [2, 7, 0]], "int32"),
}
QUESTION = {
    "story_ids": np.array([[[4, 5], [6, 0]]], "int32"),
    "question_ids": np.array([[7, 8]], "int32"),
}
MODELS = {
    "bahdanau_gru": (SIZES, TRANSLATION),
    "luong_general_lstm": ({**SIZES, "input_feeding": True}, TRANSLATION),
    "pointer_generator_gru": (SIZES, TRANSLATION),
    "transformer_tiny": (
        {"units": 8, "num_heads": 2, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.0},
        TRANSLATION,
    ),
    "memory_network": ({"embedding_dim": 4}, QUESTION),
}


@pytest.fixture(
    params=[
        "mixed_bfloat16",
        pytest.param("mixed_float16", marks=pytest.mark.thorough("bfloat16 shows it")),
        pytest.param("float16", marks=pytest.mark.thorough("bfloat16 shows it")),
    ]
)
def make_half(request):
    """Create a model of the zoo in half precision, with random weights."""

    def make(name, seed=1):
        tokenizer = (PlainWordTokenizer if name == "memory_network" else WordTokenizer)(WORDS)
        with dtype_policy(request.param):
            return fill(zoo.get_model(name)(tokenizer, **MODELS[name][0]), seed)

    return make


another = pytest.mark.thorough("another model shows it")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("bahdanau_gru", marks=another),
        pytest.param("luong_general_lstm", marks=another),
        pytest.param("pointer_generator_gru", marks=another),
        pytest.param("transformer_tiny", marks=another),
        "memory_network",
    ],
)
def test_it_is_the_model_made_in_float32(name, make_half):
    options, inputs = MODELS[name]
    half = make_half(name)
    half.compile()
    # The default dtype policy has no effect.
    with dtype_policy("mixed_bfloat16"):
        made = in_float32(half)
    assert {layer.compute_dtype for layer in made._flatten_layers()} == {"float32"}
    assert half.compute_dtype != "float32"
    assert not made.compiled
    assert made.name == half.name
    assert made.source_tokenizer is made.target_tokenizer
    assert made.source_tokenizer.get_config() == half.source_tokenizer.get_config()

    expected = zoo.get_model(name)(half.source_tokenizer, **options)
    expected.set_weights(half.get_weights())
    for one, other in zip(*map(keras.tree.flatten, (made(inputs), expected(inputs))), strict=True):
        np.testing.assert_array_equal(one, other)
    assert in_float32(made) is made


@pytest.mark.thorough("single models show it")
def test_models_of_an_ensemble(make_half):
    ensemble = Ensemble([make_half("bahdanau_gru"), make_half("bahdanau_gru", seed=2)])
    made = in_float32(ensemble)
    expected = Ensemble([in_float32(model) for model in ensemble.models])
    inputs, options = TRANSLATION["source_ids"], {"beam_size": 2, "max_length": 5}
    one, other = made.search(inputs, **options), expected.search(inputs, **options)
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.scores, other.scores)

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.models import in_float32
from kerasnmt.text import WordTokenizer

TOKENIZER = WordTokenizer(["a", "dog", "man", "two", "dogs", "run", "."])
SIZES = {"embedding_dim": 4, "units": 4, "dropout": 0.0}
MODELS = {
    "bahdanau_gru": SIZES,
    "luong_general_lstm": {**SIZES, "input_feeding": True},
    "pointer_generator_gru": SIZES,
    "transformer_tiny": {"units": 8, "num_heads": 2, "hidden_units": 8, "dropout": 0.0},
}


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_model_made_in_float32(name, policy):
    make = zoo.get_model(name)
    keras.config.set_dtype_policy(policy)
    try:
        half = make(TOKENIZER, **MODELS[name])
    finally:
        keras.config.set_dtype_policy("float32")
    rng = np.random.default_rng(1)
    half.set_weights([rng.normal(size=weight.shape) for weight in half.get_weights()])
    made = in_float32(half)
    assert {layer.compute_dtype for layer in made._flatten_layers()} == {"float32"}
    assert half.compute_dtype == policy.removeprefix("mixed_")
    assert made.name == half.name
    assert made.source_tokenizer is made.target_tokenizer
    assert made.source_tokenizer.get_config() == TOKENIZER.get_config()

    expected = make(TOKENIZER, **MODELS[name])
    expected.set_weights(half.get_weights())
    inputs = {"source_ids": [[4, 8, 10, 3], [6, 9, 3, 0]], "target_ids": [[2, 5, 10], [2, 7, 0]]}
    inputs = {key: np.array(value, "int32") for key, value in inputs.items()}
    for one, other in zip(*map(keras.tree.flatten, (made(inputs), expected(inputs))), strict=True):
        np.testing.assert_array_equal(one, other)
    assert in_float32(made) is made

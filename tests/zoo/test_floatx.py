"""Models with another `floatx`: training, search, sampling, attention and score."""

import keras
import numpy as np
import pytest

from tests.zoo.tiny_models import COMPILED, OPTIONS, example, make, marks, shared


@pytest.fixture
def set_floatx():
    def set_both(name):
        keras.config.set_floatx(name)
        # Keras keeps the policy that it made from an earlier floatx.
        keras.config.set_dtype_policy(name)

    before = keras.config.floatx()
    yield set_both
    set_both(before)


SHOWN = ["pointer_generator_gru own pointer"]


def results(model):
    inputs, targets = example(model)
    sources = {name: ids for name, ids in inputs.items() if name in model.encoder.reads}
    options = {"max_length": 4, "min_length": 2, "no_repeat_ngram": 2}
    found = model.search(sources, beam_size=2, n_best=2, **options)
    drawn = model.search(sources, samples=2, top_k=5, top_p=0.9, max_length=4)
    attended = model.attend(inputs)["weights"] if model.has_attention else 0.0
    score = model.token_log_probability(inputs, targets)
    return [
        keras.ops.convert_to_numpy(keras.ops.cast(one, "float32"))
        for one in (score, attended, found.scores, found.ids, drawn.scores, drawn.ids)
    ]


@pytest.mark.parametrize("case", [pytest.param(c, marks=marks(c, SHOWN)) for c in OPTIONS])
def test_float64_gives_the_numbers_of_float32(case, set_floatx):
    expected = results(shared(case))
    set_floatx("float64")
    name, options = OPTIONS[case]
    model = make(name, **options)
    assert {weight.dtype for weight in model.weights} == {"float64"}
    for one, other in zip(results(model), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


TRAINED = [(case, "float16") for case in COMPILED]
TRAINED += [("transformer_tiny", "bfloat16"), ("luong_general_gru", "bfloat16")]


@pytest.mark.parametrize(
    ("case", "floatx"), [pytest.param(*one, marks=marks(one, TRAINED[-1:])) for one in TRAINED]
)
def test_a_model_in_half_precision_trains_and_searches(case, floatx, set_floatx):
    set_floatx(floatx)
    name, options = OPTIONS[case]
    model = make(name, **options)
    # The models that `make test` leaves out train in a graph.
    model.compile(keras.optimizers.SGD(0.01), run_eagerly=floatx == "bfloat16")
    assert np.isfinite(float(model.train_on_batch(*example(model))[0]))
    for one in results(model):
        assert np.isfinite(one).all()

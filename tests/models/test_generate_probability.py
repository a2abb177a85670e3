import keras
import numpy as np
import pytest

from kerasnmt.data import batches
from kerasnmt.text import WordTokenizer
from kerasnmt.zoo import pointer_generator_gru, pointer_network_lstm
from tests.numerics import fill

PAIRS = [
    ("Anna sees two dogs .", "Anna sieht zwei Hunde ."),
    ("Bert runs .", "Bert rennt ."),
    ("two dogs", "zwei Hunde"),
    ("Carla sees Dora and Emil run .", "Carla sieht Dora und Emil rennen , sehr schnell ."),
]
KNOWN = ["sees", "two", "dogs", ".", "runs", "sieht", "zwei", "Hunde", "rennt", "and", "und"]


pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(scope="module")
def dataset():
    tokenizer = WordTokenizer(KNOWN)
    return batches(PAIRS, tokenizer, batch_size=3, shuffle=False, extended_vocabulary=True)


def make(constructor):
    model = constructor(WordTokenizer(KNOWN), embedding_dim=6, units=5, dropout=0.3)
    fill(model, seed=3).compile(keras.optimizers.SGD(0.01))
    return model


@pytest.mark.thorough("trains; the next test evaluates")
def test_fit_and_evaluate_log_the_mean_over_real_tokens(dataset):
    model = make(pointer_generator_gru)
    sums = np.zeros(2)
    sizes = []
    for inputs, targets, weights in dataset:
        probability = np.array(model.attend(inputs)["generate_probability"])
        sums += [np.sum(probability * weights), np.count_nonzero(targets)]
        sizes.append(len(targets))
    assert sizes == [3, 1]  # the mean is over all tokens, not over the batches' means
    assert sums[1] == 6 + 4 + 3 + 11
    logs = model.evaluate(dataset, return_dict=True, verbose=0)
    assert logs["generate_probability"] == pytest.approx(sums[0] / sums[1], abs=1e-5)
    history = model.fit(dataset, validation_data=dataset, epochs=2, verbose=0).history
    for name in ("generate_probability", "val_generate_probability"):
        assert len(history[name]) == 2
        assert all(0 < value < 1 for value in history[name])
    assert history["val_generate_probability"][1] == pytest.approx(
        model.evaluate(dataset, return_dict=True, verbose=0)["generate_probability"], abs=1e-5
    )


def test_weights_of_tokens_count(dataset):
    model = make(pointer_generator_gru)
    inputs, targets, weights = next(iter(dataset))
    weights = weights * np.linspace(0, 2, weights.shape[1], dtype="float32")
    probability = np.array(model.attend(inputs)["generate_probability"])
    expected = np.average(probability, weights=weights)
    logs = model.evaluate(inputs, targets, sample_weight=weights, return_dict=True, verbose=0)
    assert logs["generate_probability"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.thorough("trains a further model")
def test_a_model_without_a_gate_logs_none(dataset):
    model = make(pointer_network_lstm)
    assert model.fit(dataset, verbose=0).history.keys() == {"loss", "perplexity"}

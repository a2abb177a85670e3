"""Models whose output is trained with the entmax loss."""

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.decoding.constraints import IMPOSSIBLE
from kerasnmt.layers import Entmax, VocabularyProjection
from kerasnmt.text import CharacterTokenizer
from tests.layers.attention.test_normalizers import entmax
from tests.layers.decoders.test_entmax_loss import by_definition
from tests.models.on_any_backend import INPUTS, TARGETS
from tests.numerics import fill

pytestmark = pytest.mark.usefixtures("eagerly")

SMALL = {"embedding_dim": 6, "units": 5, "dropout": 0.0}
REAL = TARGETS != 0


@pytest.fixture
def model():
    """A model with large random weights, which gives probability 0 to words of the targets."""
    return fill(zoo.bahdanau_gru(11, 13, **SMALL), seed=5, scale=1.2)


def of_targets(values):
    return np.take_along_axis(np.asarray(values), TARGETS[..., None], -1)[..., 0][REAL]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("loss", ["entmax15", "sparsemax"])
def test_loss_and_perplexity(model, loss, smoothing):
    alpha = {"entmax15": 1.5, "sparsemax": 2.0}[loss]
    logits = np.asarray(model(INPUTS), "float64")
    every = by_definition(logits, alpha)
    smoothed = (1 - smoothing) * of_targets(every) + smoothing * every.mean(-1)[REAL]
    probabilities = of_targets(entmax(logits, alpha))
    assert np.any(probabilities == 0)
    model.compile(loss=loss, label_smoothing=smoothing)
    found = model.evaluate(INPUTS, TARGETS, verbose=0, return_dict=True)
    np.testing.assert_allclose(found["loss"], smoothed.mean(), rtol=1e-5)
    perplexity = np.exp(-np.log(np.maximum(probabilities, 1e-30)).mean())
    np.testing.assert_allclose(found["perplexity"], perplexity, rtol=1e-3)


@pytest.mark.parametrize("normalizer", ["entmax", Entmax(1.3)])
def test_unknown_normalizers_of_the_output(normalizer):
    with pytest.raises(ValueError, match=r"unknown normalizer '.*'; "):
        VocabularyProjection(7, normalizer)


def test_another_loss_after_a_translation():
    """The loss changes the normalizer, and so what the model scores."""
    model = zoo.bahdanau_gru(CharacterTokenizer("abcde"), **SMALL)
    model.decoder.generator.bias.assign(50.0 * np.eye(9)[5])
    model.compile(run_eagerly=True)
    assert -110 < model.score(["a"], ["c"])[0] < -90
    model.compile(loss="entmax15", run_eagerly=True)
    assert model.score(["a"], ["c"])[0] == 2 * IMPOSSIBLE
    model.compile(loss="cross_entropy", run_eagerly=True)
    assert -110 < model.score(["a"], ["c"])[0] < -90


def test_training(model):
    model.compile(keras.optimizers.Adam(0.1), loss="entmax15", label_smoothing=0.0)
    losses = model.fit(INPUTS, TARGETS, epochs=15, verbose=0).history["loss"]
    assert losses[-1] < 0.2 * losses[0]
    hypotheses = model.search(INPUTS, beam_size=3, max_length=6)
    np.testing.assert_array_equal(hypotheses.ids[:, 0, :4], TARGETS)


def test_search_and_scores(model):
    """Impossible words get -1e9 in every score, and no search finds them."""
    model.compile(loss="entmax15")
    expected = entmax(model(INPUTS), 1.5)
    log_probabilities, _ = model.inspect(INPUTS)
    np.testing.assert_array_equal(np.asarray(log_probabilities) == IMPOSSIBLE, expected == 0)
    np.testing.assert_allclose(np.exp(log_probabilities), expected, atol=1e-5)
    scores = np.asarray(model.token_log_probability(INPUTS, TARGETS))[REAL]
    np.testing.assert_allclose(scores, of_targets(log_probabilities), rtol=1e-4)
    assert np.all(np.isfinite(scores))
    assert scores.min() == np.float32(IMPOSSIBLE)


def test_beam_search_finds_every_possible_sequence_and_no_other(model):
    model.compile(loss="entmax15")
    sources = {"source_ids": INPUTS["source_ids"][:1]}

    def possible(*words):
        """Return log p of the words that can follow these, without padding and start."""
        inputs = {**sources, "target_ids": np.array([[2, *words]], "int32")}
        values = np.asarray(model.inspect(inputs)[0])[0, -1]
        return {w: v for w, v in enumerate(values) if v > IMPOSSIBLE / 2 and w not in (0, 2)}

    expected = {}
    for first, score in possible().items():
        following = {0: 0.0} if first == 3 else possible(first)
        expected |= {(first, word): score + value for word, value in following.items()}
    found = model.search(sources, beam_size=40, n_best=40, max_length=2, length_penalty=0.0)
    scores = np.asarray(found.scores)[0]
    real = scores > IMPOSSIBLE / 2
    assert {tuple(ids) for ids in np.asarray(found.ids)[0][real]} == set(expected)
    assert len(expected) < 40
    np.testing.assert_allclose(scores[real], sorted(expected.values(), reverse=True), atol=1e-4)
    assert np.all(np.isfinite(scores))


@pytest.mark.parametrize("name", ["pointer_network_lstm", "pointer_generator_gru"])
def test_copying_with_weights_of_0(name):
    """A word of the source without weight has a probability of 1e-30, so the loss stays finite."""
    model = fill(zoo.get_model(name)(13, **SMALL, normalizer="sparsemax"), seed=3, scale=2.0)
    source = np.array([[5, 9, 4, 10, 3], [6, 7, 3, 0, 0]], "int32")
    targets = np.array([[5, 9, 4, 10, 3], [6, 7, 3, 0, 0]], "int32")
    inputs = {"source_ids": source, "extended_source_ids": source}
    inputs["target_ids"] = np.where(targets, np.pad(targets, ((0, 0), (1, 0)))[:, :-1], 0)
    inputs["target_ids"][:, 0] = 2
    weights = np.asarray(model.attend(inputs)["weights"])
    chosen = np.sum(weights * (source[:, None] == targets[..., None]), -1)[targets != 0]
    assert np.any(chosen == 0)
    log = np.asarray(model.token_log_probability(inputs, targets))[targets != 0]
    assert np.all(np.isfinite(log))
    if name == "pointer_network_lstm":
        np.testing.assert_allclose(log, np.log(np.maximum(chosen, 1e-30)), rtol=1e-5)
    model.compile("sgd")
    losses = model.fit(inputs, targets, epochs=2, verbose=0).history["loss"]
    assert np.all(np.isfinite(losses))
    assert np.all([np.all(np.isfinite(weight)) for weight in model.get_weights()])


def test_saving_keeps_the_normalizer(model, tmp_path):
    model.compile(loss="entmax15")
    expected = model.evaluate(INPUTS, TARGETS, verbose=0)
    model.save(tmp_path / "m.keras")
    loaded = keras.saving.load_model(tmp_path / "m.keras")
    assert loaded.decoder.generator.normalizer == "entmax15"
    np.testing.assert_allclose(loaded.evaluate(INPUTS, TARGETS, verbose=0), expected, rtol=1e-6)
    # `compile` without a loss keeps it; the cross-entropy returns to the softmax.
    loaded.compile()
    assert loaded.decoder.generator.normalizer == "entmax15"
    loaded.compile(loss="cross_entropy")
    assert loaded.decoder.generator.normalizer == "softmax"


def test_combinations_that_cannot_be_right(model):
    model.compile(loss="entmax15")
    with pytest.raises(ValueError, match=r"Expected no loss with r_drop.*r_drop=1"):
        model.compile(loss="sparsemax", r_drop=1.0)
    with pytest.raises(ValueError, match=r"Expected no loss with r_drop.*normalizer='entmax15'"):
        model.compile(r_drop=1.0)
    with pytest.raises(ValueError, match=r"Expected loss='entmax15' or none"):
        model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    copying = zoo.pointer_generator_gru(13, **SMALL)
    with pytest.raises(ValueError, match=r"Expected no loss for a model that copies.*entmax15"):
        copying.compile(loss="entmax15")
    copying.compile(loss="cross_entropy")
    with pytest.raises(ValueError, match="entmax16"):
        model.compile(loss="entmax16")

"""Search and training with exact hard attention."""

import itertools

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.ids import END_ID, PAD_ID, START_ID
from tests.numerics import fill

V, LENGTH = 7, 3
SOURCES = np.array([[5, 4, 6, 3], [6, 3, 0, 0]], "int32")
another = pytest.mark.thorough("another alignment shows it")
MODELS = [
    pytest.param("hard_attention_lstm", {}, id="independent", marks=another),
    pytest.param("hard_monotonic_lstm", {}, id="order 0"),
    pytest.param("hard_monotonic_lstm", {"order": 1, "width": 2}, id="order 1", marks=another),
]
every = pytest.mark.parametrize(("name", "options"), MODELS)


def all_targets():
    """Return all targets of at most LENGTH tokens, padded."""
    words = [1, *range(4, V)]
    for length in range(LENGTH):
        for target in itertools.product(words, repeat=length):
            yield [*target, END_ID] + [PAD_ID] * (LENGTH - length - 1)
    yield from (list(target) for target in itertools.product(words, repeat=LENGTH))


@every
def test_beam_search_equals_brute_force(name, options):
    model = fill(zoo.get_model(name)(V, embedding_dim=5, units=4, **options), seed=3)
    found = model.search(
        SOURCES, beam_size=100, n_best=20, max_length=LENGTH, length_penalty=0.0, with_records=True
    )
    targets = np.array(list(all_targets()), "int32")
    target_ids = np.insert(targets[:, :-1], 0, START_ID, axis=1)
    for row, source in enumerate(SOURCES):
        inputs = {"source_ids": np.repeat(source[None], len(targets), 0), "target_ids": target_ids}
        tokens = np.array(model.token_log_probability(inputs, targets))
        scores = np.where(targets != PAD_ID, tokens, 0.0).sum(axis=1)
        best = np.argsort(-scores)[:20]
        np.testing.assert_allclose(found.scores[row], scores[best], rtol=1e-4)
        assert np.diff(-scores[best]).min() > 1e-5  # so the order is clear
        np.testing.assert_array_equal(found.ids[row], targets[best])
        weights = np.array(model.attend(inputs)["weights"])[best]
        real = targets[best] != PAD_ID
        np.testing.assert_allclose(found.records["weights"][row][real], weights[real], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "reverses", "floor"),
    [
        pytest.param("hard_attention_lstm", {}, True, 0.8, id="independent", marks=another),
        pytest.param("hard_monotonic_lstm", {}, False, 0.9, id="order 0", marks=another),
        pytest.param("hard_monotonic_lstm", {"order": 1}, False, 0.9, id="order 1"),
    ],
)
@pytest.mark.graph
def test_learns_the_alignment_of_characters(name, options, reverses, floor):
    """A model learns to copy or to reverse a word, with no alignments given."""
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    letters = rng.integers(4, 14, (640, 6)).astype("int32")
    wanted = letters[:, ::-1] if reverses else letters
    source = np.pad(letters, ((0, 0), (0, 1)), constant_values=END_ID)
    targets = np.pad(wanted, ((0, 0), (0, 1)), constant_values=END_ID)
    target_ids = np.pad(wanted, ((0, 0), (1, 0)), constant_values=START_ID)
    inputs = {"source_ids": source, "target_ids": target_ids}
    model = zoo.get_model(name)(14, embedding_dim=24, units=24, dropout=0.0, **options)
    model.compile(keras.optimizers.Adam(0.01), label_smoothing=0.0)
    model.fit(
        {key: ids[:512] for key, ids in inputs.items()},
        targets[:512],
        batch_size=32,
        epochs=20,
        verbose=0,
    )
    unseen = {key: ids[512:] for key, ids in inputs.items()}
    found = model.search(unseen, beam_size=1, max_length=7).ids[:, 0]
    exact = np.mean(np.all(np.array(found) == targets[512:], axis=1))
    weights = np.array(model.attend(unseen)["weights"])[:, :6]
    aligned = np.arange(6)[::-1] if reverses else np.arange(6)
    share = np.mean(np.argmax(weights, axis=-1) == aligned)
    assert exact > floor and share > floor

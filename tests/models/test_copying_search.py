"""Beam search over the extended vocabulary of each source, compared with all possible targets."""

import itertools

import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.models import Seq2Seq
from kerasnmt.text import WordTokenizer
from tests.numerics import fill

V, LENGTH = 6, 3
# Words 6, 7 and 8 are outside the vocabulary; the first source holds 6 twice, the second is padded.
EXTENDED = np.array([[6, 4, 6, 7, 3], [8, 5, 3, 0, 0]], "int32")
SOURCES = {
    "source_ids": np.where(EXTENDED < V, EXTENDED, UNKNOWN_ID),
    "extended_source_ids": EXTENDED,
}
CONFIGURATIONS = {
    "pointer_generator_gru, coverage": {"coverage": 0.1},
    "pointer_generator_lstm": {},
    "pointer_network_lstm": {},
    "pointer_network_lstm, coverage": {"coverage": 0.0},
}


another = pytest.mark.thorough("another model shows it")
SELECTED = [
    pytest.param(item, id=item[0], marks=another if item[0].endswith("lstm") else [])
    for item in CONFIGURATIONS.items()
]


@pytest.fixture(scope="module", params=SELECTED)
def model(request):
    name, options = request.param
    model = zoo.get_model(name.split(",")[0])(V, embedding_dim=5, units=4, dropout=0.0, **options)
    return fill(model, seed=3)


def all_targets(model, row, allow_unknown):
    """Return all possible targets of at most LENGTH tokens, padded."""
    words = {int(word) for word in EXTENDED[row] if word > END_ID}
    if model.name.startswith("pointer_generator"):
        words |= {4, 5, UNKNOWN_ID} if allow_unknown else {4, 5}
    for length in range(LENGTH):
        for target in itertools.product(words, repeat=length):
            yield [*target, END_ID] + [PAD_ID] * (LENGTH - length - 1)
    yield from (list(target) for target in itertools.product(words, repeat=LENGTH))


def log_probabilities(model, row, targets):
    """Return the log-probabilities of targets, computed by a full pass for each."""
    fed = np.insert(targets[:, :-1], 0, START_ID, axis=1)
    fed = np.where(fed == END_ID, PAD_ID, np.where(fed >= V, UNKNOWN_ID, fed))
    inputs = {key: np.repeat(ids[row : row + 1], len(targets), 0) for key, ids in SOURCES.items()}
    outputs = model({**inputs, "target_ids": fed})
    of_tokens = np.array(model.decoder.log_probability(outputs, targets)[0])
    return (of_tokens * (targets != PAD_ID)).sum(axis=1)


@pytest.mark.parametrize(
    ("alpha", "options"),
    [(0.0, {"allow_unknown": True}), (1.0, {}), (1.0, {"allow_unknown": False})],
)
def test_beam_equals_brute_force(model, alpha, options):
    found = model.search(
        SOURCES, beam_size=200, n_best=50, max_length=LENGTH, length_penalty=alpha, **options
    )
    for row in range(2):
        targets = np.array(list(all_targets(model, row, options.get("allow_unknown", False))))
        lengths = (targets != PAD_ID).sum(axis=1)
        scores = log_probabilities(model, row, targets) / ((5 + lengths) / 6) ** alpha
        best = np.argsort(-scores)[:50]
        np.testing.assert_allclose(found.scores[row, : len(best)], scores[best], rtol=1e-4)
        # If scores differ clearly, the order must also be the same.
        apart = np.append(np.diff(scores[best]) < -1e-3, False)
        clear = apart & np.insert(apart[:-1], 0, True)
        assert clear.sum() >= 10
        ids = np.array(found.ids[row, : len(best)])
        np.testing.assert_array_equal(ids[clear], targets[best][clear])
        assert np.any(ids >= V)


def test_one_tokenizer_for_both_sides():
    one, other = WordTokenizer(["a", "b"]), WordTokenizer(["b", "a"])
    model = zoo.pointer_network_lstm(one, embedding_dim=3, units=2)
    with pytest.raises(ValueError, match="Expected one tokenizer for both sides"):
        Seq2Seq(model.encoder, model.bridge, model.decoder, one, other)

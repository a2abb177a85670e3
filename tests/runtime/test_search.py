"""The searches on NumPy arrays find what those of `kerasnmt.decoding` find."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasnmt import decoding, runtime
from kerasnmt.decoding import SearchOptions
from kerasnmt.runtime.terms import Terms

VOCABULARY, UNITS, LENGTHS = 99, 6, (5, 3, 0, 4)
PREFIX = np.array([[4, 5], [6, 0], [0, 0], [7, 7]], "int32")


@pytest.fixture(scope="module")
def model():
    """A step with states, attention weights and few probable tokens, and its first arguments."""
    rng = np.random.default_rng(7)
    embed, kernel, output = (
        1.5 * rng.normal(size=shape).astype("float32")
        for shape in ((VOCABULARY, UNITS), (UNITS, UNITS), (2 * UNITS, VOCABULARY))
    )
    mask = np.arange(5) < np.array(LENGTHS)[:, None]
    memory = {"keys": rng.normal(size=(4, 5, UNITS)).astype("float32"), "mask": mask}
    states = {"h": rng.normal(size=(4, UNITS)).astype("float32")}

    def step(ids, states, memory):
        h = ops.tanh(ops.take(embed, ids, axis=0) + ops.matmul(states["h"], kernel))
        scores = ops.einsum("rhu,rsu->rhs", h, memory["keys"])
        weights = ops.softmax(ops.where(memory["mask"][:, None], scores, -1e9))
        context = ops.einsum("rhs,rsu->rhu", weights, memory["keys"])
        logits = ops.matmul(ops.concatenate([h, context], axis=-1), output)
        return ops.log_softmax(logits), {"weights": weights}, {"h": h}

    return step, states, memory


def on_arrays(step):
    def run(*arguments):
        return keras.tree.map_structure(np.asarray, step(*arguments))

    return run


@pytest.mark.parametrize(
    "options",
    [
        {"beam_size": 1},
        {"beam_size": 4},
        {"beam_size": 12, "length_penalty": 1.3, "length_normalization": "length"},
        {"beam_size": 3, "coverage_penalty": 0.4, "min_length": 4},
        {"beam_size": 3, "no_repeat_ngram": 2},
        {"beam_size": 3, "no_repeat_ngram": 1},
        {"beam_size": 3, "max_length_ratio": 1.2, "max_length_margin": 1},
        {"beam_size": 1, "samples": 5, "seed": 3},
        {"samples": 6, "temperature": 2.0, "top_k": 4, "top_p": 0.9, "seed": 1},
    ],
)
@pytest.mark.parametrize("prefix_ids", [None, PREFIX])
def test_the_same_hypotheses(model, options, prefix_ids):
    check(model, options, prefix_ids)


# The number of the term of each alternative in a row, and its tokens.
TERMS = [
    [(1, (40, 41)), (1, (42,)), (2, (40, 40, 43)), (0, (7,)), (2, (50, 40))],
    [(1, (9,)), (0, (9, 10)), (0, (11,)), (3, (9, 9))],
    [],
    [(0, (5,)), (0, (5, 6)), (0, (60,))],
]


@pytest.mark.parametrize(
    ("options", "prefix_ids"),
    [
        ({"beam_size": 1}, None),
        ({"beam_size": 4}, None),
        ({"beam_size": 4}, PREFIX),
        ({"beam_size": 9, "length_penalty": 1.3, "coverage_penalty": 0.4, "max_length": 5}, None),
        ({"beam_size": 3, "no_repeat_ngram": 1, "min_length": 4}, PREFIX),
        ({"beam_size": 3, "max_length_ratio": 1.2, "max_length_margin": 1}, None),
        ({"beam_size": 4, "max_length": 3}, None),  # the terms of two rows do not fit
    ],
)
@pytest.mark.parametrize("splits", [False, True])
def test_the_same_hypotheses_with_terms(model, options, prefix_ids, splits):
    rng = np.random.default_rng(2)
    # The last tokens are outside the vocabulary, like words that are copied.
    places = [rng.random(90) < 0.4 if splits else np.ones(90, bool) for _ in range(2)]
    ids, numbers = np.zeros((4, 5, 3), "int32"), np.zeros((4, 5), "int32")
    for row, alternatives in enumerate(TERMS):
        for rank, (number, tokens) in enumerate(alternatives):
            numbers[row, rank], ids[row, rank, : len(tokens)] = number, tokens
    terms = decoding.Terms(ids, numbers, *places), Terms(TERMS, *places)
    check(model, options, prefix_ids, terms)


def check(model, options, prefix_ids, terms=(None, None)):
    """Compare both searches, and their terms in two forms."""
    step, states, memory = model
    options = SearchOptions(**{"max_length": 8, **options})
    n_best = options.hypotheses
    ids = np.array([[4, 5, 6, 7, 3], [4, 4, 3, 0, 0], [0] * 5, [8, 7, 6, 3, 0]], "int32")
    expected = decoding.search(
        step,
        states,
        memory,
        ops.full((4,), 2, dtype="int32"),
        memory["mask"],
        options,
        end_id=3,
        never_ids=(0, 2),
        n_best=n_best,
        prefix_ids=prefix_ids,
        terms=terms[0],
        sampled_from={"source_ids": ids},
    )
    found = runtime.search(
        on_arrays(step),
        {name: state[:, None] for name, state in states.items()},
        memory,
        memory["mask"],
        options,
        never_ids=(0, 2),
        n_best=n_best,
        prefix_ids=prefix_ids,
        terms=terms[1],
        sampled_from={"source_ids": ids},
    )
    length = found.ids.shape[2]
    assert len(np.unique(found.ids[:, 0], axis=0)) >= 3
    np.testing.assert_array_equal(found.ids, expected.ids[..., :length])
    assert not np.any(expected.ids[..., length:])
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    weights = expected.records["weights"]
    np.testing.assert_allclose(found.records["weights"], weights[:, :, :length], atol=1e-6)


def test_a_search_ends_whatever_the_penalty(model):
    """The ranks are below those of impossible sequences."""
    step, states, memory = model
    options = SearchOptions(beam_size=2, coverage_penalty=1e30, max_length=4)
    start, mask = ops.full((4,), 2, dtype="int32"), memory["mask"]
    expected = decoding.search(
        step, states, memory, start, mask, options, end_id=3, never_ids=(0, 2)
    )
    states = {name: state[:, None] for name, state in states.items()}
    found = runtime.search(on_arrays(step), states, memory, mask, options, never_ids=(0, 2))
    assert found.scores.min() < -1e9
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)


def test_no_rows(model):
    step, states, memory = model
    none = {name: value[:0] for name, value in memory.items()}
    found = runtime.search(
        on_arrays(step),
        {"h": states["h"][:0, None]},
        none,
        none["mask"],
        SearchOptions(beam_size=2),
    )
    assert found.ids.shape == (0, 1, 0)

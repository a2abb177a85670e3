"""Searches with terms, against all sequences that contain them."""

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.decoding import Terms
from tests.decoding.test_search import (
    END,
    IMPOSSIBLE,
    LENGTH,
    PAD,
    Toy,
    penalised,
    ranked,
    sequences,
)

# Whether a word begins at each token, and after it: 0 begins a word, 1 continues one, 2 is a sign.
OPENS, CLOSES = np.array([1, 0, 1, 0], bool), np.array([0, 0, 1, 0], bool)
PIECES = {"opens": OPENS, "closes": CLOSES}


def terms_of(rows, **kinds):
    """Return the terms of rows, lists of terms, which are lists of alternatives.

    A tuple instead of a list is a phrase that must not occur.
    """
    alternatives = []
    for row in rows:
        alternatives.append([])
        number = 0
        for term in row:
            number += isinstance(term, list)
            of_term = term if isinstance(term, list) else [list(term)]
            alternatives[-1] += [
                (number if isinstance(term, list) else 0, [*one]) for one in of_term
            ]
    most = max(map(len, alternatives), default=0) or 1
    length = max((len(ids) for row in alternatives for _, ids in row), default=1)
    ids = np.full((len(rows), most, length), PAD, "int32")
    numbers = np.zeros((len(rows), most), "int32")
    for r, row in enumerate(alternatives):
        for p, (number, one) in enumerate(row):
            ids[r, p, : len(one)], numbers[r, p] = one, number
    return Terms(ids, numbers, **kinds)


def occurs(phrase, sequence, opens=None, closes=None):
    """Return whether a sequence contains a phrase as whole words, by looking at every place."""
    text = [token for token in sequence if token != END]

    def boundary(place):
        if opens is None or place in (0, len(text)):
            return True
        return bool(closes[text[place - 1]] or opens[text[place]])

    return any(
        tuple(text[i : i + len(phrase)]) == tuple(phrase)
        and boundary(i)
        and boundary(i + len(phrase))
        for i in range(len(text) - len(phrase) + 1)
    )


def fulfils(sequence, row, **kinds):
    wanted = [term for term in row if isinstance(term, list)]
    return (
        all(any(occurs(one, sequence, **kinds) for one in term) for term in wanted)
        and not any(occurs(term, sequence, **kinds) for term in row if isinstance(term, tuple))
        # Where terms are wanted, the end token has its place too.
        and (not wanted or sequence[-1] == END)
    )


CASES = {
    "one": [[(0,)]],
    "two tokens": [[(0, 1)]],
    "several, which fit exactly": [[(0,)], [(2, 1)]],
    "alternatives": [[(0, 0), (0, 1)], [(2,)]],
    "alternatives that begin alike": [[(0, 1), (0, 2, 1)]],
    "a repeated token": [[(1, 1, 2), (0, 0, 1)]],
    "forbidden": [(0,)],
    "forbidden phrases": [(0, 1), (2, 2)],
    "term and forbidden": [[(0, 1)], (2,)],
    "term and forbidden that begins alike": [[(0, 1)], (0, 0)],
    "term and forbidden that continues": [[(0,)], (0, 1)],
}
# The tokens that are needed are counted for one term after another. So a sequence is left out that
# fits only because two terms overlap, or because one may follow the punctuation of another.
OVERLAPS = {
    "one inside another": [[(0,)], [(0, 1)]],
    "an overlap": [[(0, 1)], [(1, 2)]],
    "after punctuation": [[(0, 0), (1,)], [(2,)]],
}


@pytest.mark.parametrize("kinds", [{}, PIECES], ids=["words", "pieces"])
def test_wide_beam_equals_filtered_brute_force(kinds):
    check_against_brute_force(CASES.values(), 4, **kinds)


def test_terms_that_share_a_beginning():
    case = [[(0, 1)], [(0, 2)]]
    check_against_brute_force([case], 5, 1.0)
    # With this length, both terms and the end fit exactly.
    toy = Toy(seed=2)
    expected = {(0, 1, 0, 2, END), (0, 2, 0, 1, END)}
    for beam_size in (2, 5):
        found = toy.search(beam_size=beam_size, terms=terms_of([case] * 3))
        assert {tuple(row) for row in np.asarray(found.ids)[:, 0]} <= expected


def check_against_brute_force(cases, length, alpha=0.6, **kinds):
    """Compare a search whose rows have the terms of the cases."""
    toy = Toy(rows=len(cases), seed=1)
    everything = list(toy.all_sequences(length))
    beam_size = len(everything) + 6
    options = {"max_length": length, "length_penalty": alpha, "n_best": beam_size}
    found = toy.search(beam_size=beam_size, terms=terms_of(cases, **kinds), **options)
    for row, case in enumerate(cases):
        expected = [one for one in everything if fulfils(one, case, **kinds)]
        assert 0 < len(expected) < len(everything)
        scores, best = zip(*ranked(toy, row, expected, alpha), strict=True)
        assert [one for one in sequences(found.ids[row]) if one] == [*best]
        np.testing.assert_allclose(found.scores[row][: len(best)], scores, rtol=1e-4)
        np.testing.assert_array_equal(found.scores[row][len(best) :], IMPOSSIBLE)


def test_overlapping_terms():
    toy = Toy(seed=1)
    options = {"beam_size": 130, "n_best": 130, "terms": terms_of(OVERLAPS.values(), **PIECES)}
    found = toy.search(**options)
    for row, case in enumerate(OVERLAPS.values()):
        expected = {one for one in toy.all_sequences() if fulfils(one, case, **PIECES)}
        got = {one for one in sequences(found.ids[row]) if one}
        assert got <= expected
        assert len(got) > 0.8 * min(len(expected), 130)


@pytest.mark.parametrize("kinds", [{}, PIECES], ids=["words", "pieces"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_narrow_beam_meets_the_terms(beam_size, kinds):
    cases = {**CASES, **OVERLAPS}
    toy = Toy(rows=len(cases), seed=3)
    everything = list(toy.all_sequences())
    terms = terms_of(cases.values(), **kinds)
    found = toy.search(beam_size=beam_size, length_penalty=0.6, terms=terms)
    for row, (name, case) in enumerate(cases.items()):
        (best,) = sequences(found.ids[row])
        assert fulfils(best, case, **kinds), name
        expected = [one for one in everything if fulfils(one, case, **kinds)]
        most = ranked(toy, row, expected, 0.6)[0][0]
        score = penalised(toy.log_probability(row, best), len(best), 0.6)
        np.testing.assert_allclose(found.scores[row, 0], score, rtol=1e-4)
        assert score <= most + 1e-6


def test_rows_without_terms_equal_the_plain_search():
    toy = Toy(rows=4, seed=4)
    rows = [[[(0, 1)], [(2,)]], [], [(1,)], []]
    options = {"beam_size": 3, "n_best": 3, "length_penalty": 0.6}
    plain = toy.search(**options)
    found = toy.search(**options, terms=terms_of(rows))
    for row in (1, 3):
        np.testing.assert_array_equal(found.ids[row], plain.ids[row])
        np.testing.assert_array_equal(found.scores[row], plain.scores[row])
        np.testing.assert_array_equal(found.records["node"][row], plain.records["node"][row])


def test_an_empty_batch():
    assert Toy(rows=0).search(terms=terms_of([], **PIECES)).ids.shape == (0, 1, LENGTH)


def test_rows_do_not_see_each_other():
    toy = Toy(rows=3, seed=5)
    rows = [[[(0, 1), (2, 2, 2)]], [[(1,)], (0,)], [[(2,)], [(1, 0)]]]
    options = {"beam_size": 3, "n_best": 3, "max_length": 4}
    together = toy.search(**options, terms=terms_of(rows, **PIECES))
    for row in range(3):
        alone = toy.search(
            **options,
            terms=terms_of([rows[row] if i == row else [] for i in range(3)], **PIECES),
        )
        np.testing.assert_array_equal(together.ids[row], alone.ids[row])
        np.testing.assert_array_equal(together.scores[row], alone.scores[row])


def test_rows_whose_terms_do_not_fit_equal_the_plain_search():
    toy = Toy(seed=6)
    terms = terms_of([[[(0, 1)], [(2, 2)], [(1, 1)]], [[(0,)]], [[(0, 0, 0, 0, 0)]]])
    found = toy.search(beam_size=4, terms=terms)
    plain = toy.search(beam_size=4)
    for row in (0, 2):
        np.testing.assert_array_equal(found.ids[row], plain.ids[row])
        np.testing.assert_array_equal(found.scores[row], plain.scores[row])
    assert 0 in np.asarray(found.ids)[1, 0]


def test_maximum_lengths_of_rows():
    # Rows may have 2, 3 and 4 tokens.
    toy = Toy(seed=7)
    sources = np.array([[1, PAD, PAD], [1, 1, PAD], [1, 1, 1]])
    options = {"max_length_ratio": 1.0, "max_length_margin": 1}
    case = [[(1,)]]
    found = toy.search(beam_size=4, sources=sources, terms=terms_of([case] * 3), **options)
    for row, length in enumerate((2, 3, 4)):
        expected = [one for one in toy.all_sequences(length) if fulfils(one, case)]
        (best,) = sequences(found.ids[row])
        assert best in expected
    # The first row has room for the term and the end only.
    assert sequences(found.ids[0]) == [(1, END)]


def test_other_constraints():
    toy = Toy(seed=8)
    # A term repeats a token, which the rule against repetition does not forbid in a term.
    found = toy.search(beam_size=4, no_repeat_ngram=1, terms=terms_of([[[(1, 1)]]] * 3))
    assert all(occurs((1, 1), one[0]) for one in map(sequences, found.ids))
    found = toy.search(beam_size=4, min_length=5, terms=terms_of([[[(1, 1)]]] * 3))
    assert all(len(one[0]) == 5 and occurs((1, 1), one[0]) for one in map(sequences, found.ids))
    # A term may be in the prefix, or after it. A prefix that forbids a term wins.
    prefix = np.array([[1, 1], [0, PAD], [2, 2]], "int32")
    found = toy.search(
        beam_size=4, prefix_ids=prefix, terms=terms_of([[[(1, 1)]], [[(1, 1)]], [(2,)]])
    )
    first, second, third = (one[0] for one in map(sequences, found.ids))
    assert first[:2] == (1, 1) and second[0] == 0 and occurs((1, 1), second)
    assert third[:2] == (2, 2) and 2 not in third[2:]


def test_samples_have_no_terms():
    with pytest.raises(ValueError, match="Expected samples=0 with terms"):
        Toy().search(samples=2, terms=terms_of([[]] * 3))


@pytest.mark.thorough("the graph of an export gives the same answers in test_saved_model.py")
@pytest.mark.graph
@pytest.mark.parametrize("jit_compile", [False, True])
def test_in_graph(jit_compile):
    toy = Toy(seed=9)
    rows = [[[(0, 1), (2, 2, 2)]], [], [[(2,)], (1, 0)]]
    terms = terms_of(rows, **PIECES)
    eager = toy.search(beam_size=3, n_best=2, terms=terms)

    # With unknown sizes, rows leave the loop when they are finished.
    shape = None if not jit_compile else terms.ids.shape
    spec = tf.TensorSpec(shape or [None, None, None], "int32")
    numbers = tf.TensorSpec(shape[:2] if shape else [None, None], "int32")

    @tf.function(input_signature=[spec, numbers], jit_compile=jit_compile)
    def run(ids, numbers):
        found = toy.search(beam_size=3, n_best=2, terms=Terms(ids, numbers, OPENS, CLOSES))
        return found.ids, found.scores

    ids, scores = run(terms.ids, terms.numbers)
    np.testing.assert_array_equal(ids, eager.ids)
    np.testing.assert_allclose(scores, eager.scores, rtol=1e-5)

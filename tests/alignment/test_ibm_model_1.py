import math

import numpy as np
import pytest

from kerasnmt.alignment import IBMModel1, alignment_error_rate
from kerasnmt.data import builtin_corpus

BOOKS = [("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book")]


def test_one_step_by_hand():
    # t = 1/2 everywhere. In the first pair each of x and y has 1/3 from the null word, a and b; in
    # the second x has 1/2 from the null word and a. Counts of (x, y): null and a (5/6, 1/3),
    # b (1/3, 1/3).
    model = IBMModel1(iterations=1).fit([("a b", "x y"), ("a", "x")])
    for source, x, y in ((None, 5 / 7, 2 / 7), ("a", 5 / 7, 2 / 7), ("b", 1 / 2, 1 / 2)):
        assert model.probability("x", source) == pytest.approx(x)
        assert model.probability("y", source) == pytest.approx(y)
    assert model.log_likelihoods == pytest.approx([3 * math.log(1 / 2)])


def test_likely_words_of_one_step():
    # The probabilities of `test_one_step_by_hand`; x and y are equally likely for b.
    model = IBMModel1(iterations=1).fit([("a b", "x y"), ("a", "x")])
    assert model.likely(2) == {"a": ["x", "y"], "b": ["x", "y"]}
    assert model.likely(1) == {"a": ["x"], "b": ["x"]}
    with pytest.raises(ValueError, match="Expected a fitted IBMModel1"):
        IBMModel1().likely(1)


def test_log_likelihood_by_hand():
    # After the step above: x has (5/7 + 5/7 + 1/2) / 3 and y (2/7 + 2/7 + 1/2) / 3 in the first
    # pair, x has (5/7 + 5/7) / 2 in the second.
    model = IBMModel1(iterations=2).fit([("a b", "x y"), ("a", "x")])
    assert model.log_likelihoods[1] == pytest.approx(math.log(9 / 14 * 5 / 14 * 5 / 7))


def test_a_word_that_stands_twice_counts_twice():
    # c(x | a) = 2/3 and c(y | a) = 2/3 of the first pair, c(x | a) = 1/2 of the second.
    model = IBMModel1(iterations=1).fit([("a a", "x y"), ("a", "x")])
    assert model.probability("x", "a") == pytest.approx(7 / 11)


def test_houses_and_books():
    model = IBMModel1(iterations=50).fit(BOOKS)
    table = [
        [model.probability(target, source) for target in ("the", "house", "book", "a")]
        for source in ("das", "Haus", "Buch", "ein", None)
    ]
    expected = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0, 0.5, 0]]
    np.testing.assert_allclose(table, expected, atol=1e-3)
    assert [model.align(*pair) for pair in BOOKS] == [[(0, 0), (1, 1)]] * 3
    assert model.align("Buch das", "the book") == [(1, 0), (0, 1)]


def test_columns_are_distributions_and_the_likelihood_never_falls():
    pairs = builtin_corpus(300)
    model = IBMModel1(iterations=30).fit(pairs)
    targets = {word for pair in pairs for word in pair.target.split()}
    for source in (None, "the", "."):
        assert sum(model.probability(word, source) for word in targets) == pytest.approx(1)
    assert len(model.log_likelihoods) == 30
    assert np.diff(model.log_likelihoods).min() > 0


def test_alignment_error_rate():
    model = IBMModel1().fit(builtin_corpus(2000))
    test = builtin_corpus(500, "test")
    predicted = [model.align(pair.source, pair.target) for pair in test]
    assert alignment_error_rate(predicted, [pair.alignment for pair in test]) <= 0.16


def test_words_without_links():
    model = IBMModel1().fit([*BOOKS, ("Haus", "well house"), ("Buch", "well book")])
    assert model.align("Haus", "well house") == [(0, 1)]  # "well" comes from the null word
    assert model.align("das Auto", "the car") == [(0, 0)]
    assert model.align("Auto", "the") == []
    assert model.align("das", "") == model.align("", "the") == []
    assert model.probability("car", "das") == model.probability("the", "Auto") == 0


def test_fit_forgets_and_equal_words_link_to_the_first():
    model = IBMModel1().fit(BOOKS).fit([("ja", "yes"), ("ja nein", "yes no")])
    assert model.align("das", "the") == []
    assert model.align("ja ja", "yes yes") == [(0, 0), (0, 1)]
    assert len(model.log_likelihoods) == 10


@pytest.mark.parametrize("pairs", [[], [("das", "")]])
def test_nothing_to_learn_from(pairs):
    with pytest.raises(ValueError, match="at least one target word"):
        IBMModel1().fit(pairs)


def test_other_errors():
    with pytest.raises(ValueError, match="Call fit"):
        IBMModel1().align("das", "the")
    with pytest.raises(ValueError, match="Received: iterations=0"):
        IBMModel1(iterations=0)

import numpy as np
import pytest

from kerasnmt.alignment import word_alignment


def test_whole_words():
    weights = [[0.1, 0.9, 0.0], [0.6, 0.1, 0.3]]
    assert word_alignment(weights, [0, 1, 2], [0, 1]) == [(1, 0), (0, 1)]


def test_columns_of_a_source_word_are_summed():
    # Pieces of word 0 receive 0.3 + 0.3, more than the 0.4 of word 1.
    assert word_alignment([[0.3, 0.3, 0.4]], [0, 0, 1], [0]) == [(0, 0)]


def test_rows_of_a_target_word_are_averaged():
    # Word 0: (0.6 + 0.1) / 2 = 0.35 and (0.4 + 0.9) / 2 = 0.65.
    weights = [[0.6, 0.4], [0.1, 0.9], [0.8, 0.2]]
    assert word_alignment(weights, [0, 1], [0, 0, 1]) == [(1, 0), (0, 1)]


def test_left_out_tokens_count_for_nothing():
    # Without the -1: the last column would win the first row, the last row would be a word.
    weights = [[0.1, 0.2, 0.7], [0.3, 0.1, 0.6], [0.0, 0.0, 1.0]]
    assert word_alignment(weights, [0, 1, -1], [0, 1, -1]) == [(1, 0), (0, 1)]


def test_pieces_of_a_word_need_not_be_adjacent():
    # A bare space inside; word 0 receives 0.3 + 0.3.
    assert word_alignment([[0.3, 0.0, 0.4, 0.3]], [0, -1, 1, 0], [0]) == [(0, 0)]


def test_the_first_source_word_wins_a_tie():
    assert word_alignment([[0.25, 0.5, 0.25]], [0, 1, 0], [0]) == [(0, 0)]


def test_no_link_without_weight_on_a_word():
    weights = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    assert word_alignment(weights, [0, 1, -1], [0, 1]) == [(1, 1)]


@pytest.mark.parametrize(("source", "target"), [([], []), ([-1], [-1]), ([0], [-1]), ([-1], [0])])
def test_no_words_no_links(source, target):
    assert word_alignment(np.ones((len(target), len(source))), source, target) == []


def test_plain_integers_come_out():
    ((source, target),) = word_alignment(np.ones((1, 1), "float16"), np.array([0]), np.array([0]))
    assert (type(source), type(target)) == (int, int)


def test_wrong_shape():
    with pytest.raises(ValueError) as caught:
        word_alignment(np.zeros((2, 3)), [0, 1], [0, 1, 2])
    assert str(caught.value) == (
        "Expected weights of shape [target tokens, source tokens], here (3, 2). "
        "Received: weights.shape=(2, 3)"
    )

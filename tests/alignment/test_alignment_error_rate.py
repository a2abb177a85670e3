import pytest

from kerasnmt.alignment import alignment_error_rate


def test_by_hand():
    # |A| = 3, |S| = 2; in S: (0, 0); in S or P: (0, 0), (1, 2).
    predicted, sure, possible = [(0, 0), (1, 2), (5, 5)], [(0, 0), (1, 1)], [(1, 2), (3, 3)]
    assert alignment_error_rate([predicted], [sure], [possible]) == pytest.approx(1 - (1 + 2) / 5)
    assert alignment_error_rate([predicted], [sure]) == pytest.approx(1 - (1 + 1) / 5)


def test_counts_are_summed_over_the_corpus():
    # Sentence 1: 1 agreed of |A| = 1, |S| = 1; sentence 2: none of |A| = 2, |S| = 1.
    # Together 1 - (1 + 1) / 5, whereas the mean of both rates is 0.5.
    predicted = [[(0, 0)], [(0, 0), (0, 1)]]
    sure = [[(0, 0)], [(1, 1)]]
    assert alignment_error_rate(predicted, sure) == pytest.approx(0.6)


def test_bounds():
    links = [[(0, 0), (1, 1)], [(0, 1)]]
    assert alignment_error_rate(links, links) == 0
    assert alignment_error_rate(links, [[(2, 2)], []]) == 1
    assert alignment_error_rate([[]], [[(0, 0)]]) == 1


def test_possible_links_that_are_left_out_cost_nothing():
    assert alignment_error_rate([[(0, 0)]], [[(0, 0)]], [[(1, 1), (2, 2)]]) == 0


def test_sure_links_count_as_possible_once():
    sure = [[(0, 0)]]
    assert alignment_error_rate(sure, sure, sure) == 0


def test_repeated_links_count_once():
    assert alignment_error_rate([[(0, 0), (0, 0)]], [[(0, 0)]]) == 0


def test_numbers_of_sentences_differ():
    with pytest.raises(ValueError) as caught:
        alignment_error_rate([[]], [[], []], [[]])
    assert str(caught.value) == (
        "Expected predicted, sure and possible links of the same number of sentences. Received: "
        "len(predicted)=1, len(sure)=2, len(possible)=1"
    )


def test_nothing_to_count():
    with pytest.raises(ValueError) as caught:
        alignment_error_rate([[], []], [[], []], [[(0, 0)], []])
    assert str(caught.value) == (
        "Expected at least one predicted or sure link. Received: 2 sentences without links"
    )

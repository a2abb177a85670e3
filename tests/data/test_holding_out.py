import numpy as np
import pytest

from kerasnmt.data.holding_out import held_out


def corpus(count, sources=None):
    return [(b"source %d" % (i % (sources or count)), b"target %d" % i) for i in range(count)]


@pytest.mark.parametrize("sources", [1000, 250])
def test_pairs_with_one_source_stay_together(sources):
    pairs = corpus(1000, sources)
    held = held_out(pairs, 100)
    assert (held.shape, held.dtype, held.sum()) == ((1000,), bool, 100)
    seen = {pair[0] for pair, is_held in zip(pairs, held, strict=True) if not is_held}
    assert not seen & {pair[0] for pair, is_held in zip(pairs, held, strict=True) if is_held}


def test_the_same_pairs_give_the_same_choice_in_any_order():
    pairs = corpus(500)
    held = held_out(pairs, 50)
    np.testing.assert_array_equal(held_out(pairs, 50), held)
    np.testing.assert_array_equal(held_out(pairs[::-1], 50), held[::-1])
    # The choice is spread over the corpus.
    assert all(10 < part.sum() < 40 for part in np.split(held, 2))
    # A larger choice contains a smaller one.
    assert (held_out(pairs, 60) >= held).all()


def test_groups_that_are_too_large_are_left_out():
    pairs = [(b"again", b"%d" % i) for i in range(500)] + corpus(20)
    held = held_out(pairs, 10)
    assert (held[:500].sum(), held[500:].sum()) == (0, 10)
    assert held_out(pairs[:500], 10).sum() == 0


def test_pairs_that_are_empty_on_a_side_are_not_held_out():
    pairs = [(b"a", b" "), (b"", b"b"), (b" \t", b""), (b"a", b"b"), (b"c", b"d")]
    assert held_out(pairs, 5).tolist() == [False, False, False, True, True]
    assert held_out(pairs[:3], 5).tolist() == [False, False, False]

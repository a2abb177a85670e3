import numpy as np
import pytest

from kerasnmt.speed.gather import plain_take_rows, take_rows


@pytest.mark.parametrize("take", [take_rows, plain_take_rows])
@pytest.mark.parametrize(
    ("rows", "entry", "new", "axis"),
    [
        ((3,), (), (5,), 1),
        ((3,), (2, 2), (5,), 1),
        ((3,), (2,), (), 1),
        ((3,), (2,), (2, 6), 1),
        ((3, 2), (), (5,), 2),
        ((0, 2), (), (5,), 2),
    ],
)
def test_each_row_has_indices_of_its_own(rows, entry, new, axis, take):
    rng = np.random.default_rng(4)
    table = rng.normal(size=(*rows, 4, *entry)).astype("float32")
    indices = rng.integers(4, size=(*rows, *new), dtype="int32")
    expected = np.zeros((*rows, *new, *entry), "float32")
    for place in np.ndindex(*rows, *new):
        expected[place] = table[(*place[:axis], indices[place])]
    np.testing.assert_array_equal(np.array(take(table, indices, axis)), expected)

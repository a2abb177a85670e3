import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import caption_batches
from kerasnmt.text import WordTokenizer

TOKENIZER = WordTokenizer(["a", "red", "circle"])  # ids 4, 5, 6
IMAGES = np.arange(3 * 2 * 2 * 3, dtype="uint8").reshape(3, 2, 2, 3)
PAIRS = [*zip(IMAGES, ["a red circle", "a square", ""], strict=True)]


def test_ids_by_hand():
    dataset = caption_batches(PAIRS, TOKENIZER, batch_size=2, shuffle=False)
    assert dataset.cardinality() == 2
    (inputs, targets, weight), (last, _, _) = dataset
    np.testing.assert_array_equal(inputs["images"], IMAGES[:2])
    assert inputs["images"].dtype == tf.uint8
    np.testing.assert_array_equal(targets, [[4, 5, 6, 3], [4, 1, 3, 0]])
    np.testing.assert_array_equal(inputs["target_ids"], [[2, 4, 5, 6], [2, 4, 1, 0]])
    np.testing.assert_array_equal(weight, [[1, 1, 1, 1], [1, 1, 1, 0]])
    assert targets.dtype == inputs["target_ids"].dtype == tf.int32
    np.testing.assert_array_equal(last["target_ids"], [[2]])


def test_pairs_may_hold_more():
    more = [(image, caption, "red") for image, caption in PAIRS]
    for batch, expected in zip(
        caption_batches(more, TOKENIZER, shuffle=False),
        caption_batches(PAIRS, TOKENIZER, shuffle=False),
        strict=True,
    ):
        tf.nest.map_structure(np.testing.assert_array_equal, batch, expected)


def test_images_stay_with_their_captions():
    def orders():
        dataset = caption_batches(PAIRS, TOKENIZER, batch_size=1, seed=1)
        for _ in range(4):  # epochs
            order = []
            for inputs, targets, _ in dataset:
                (row,) = np.flatnonzero((inputs["images"].numpy() == IMAGES).all(axis=(1, 2, 3)))
                assert targets.shape[1] == [4, 3, 1][row]
                order.append(int(row))
            assert sorted(order) == [0, 1, 2]
            yield tuple(order)

    first = [*orders()]
    assert first == [*orders()] and len(set(first)) > 1


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], r"at least one pair, and images of the same shape. Received: shapes \[\]"),
        ([("a", "b")], r"an array \[height, width, channels\], and a caption. Received: \('a'"),
        ([*PAIRS, (IMAGES[0, :1], "a")], r"Received: shapes \[\(1, 2, 3\), \(2, 2, 3\)\]"),
    ],
)
def test_pairs_of_another_form(pairs, message):
    with pytest.raises(ValueError, match=message):
        caption_batches(pairs, TOKENIZER)

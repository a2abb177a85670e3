import numpy as np

from kerasnmt.models.scheduled_sampling import mixed_inputs

# Start, four words and padding; 9 is outside a vocabulary of 9 ids.
TARGET_IDS = np.array([[2, 5, 6, 7, 1, 0, 0], [2, 4, 0, 0, 0, 0, 0]], "int32")
PREDICTED = np.array([[8, 6, 9, 1, 4, 4, 4], [5, 3, 7, 7, 7, 7, 7]], "int32")


def test_predictions_come_one_position_later():
    everywhere = np.ones_like(TARGET_IDS, bool)
    received = mixed_inputs(TARGET_IDS, PREDICTED, everywhere, vocabulary_size=9)
    # The start token and padding stay, and the copied word is unknown.
    expected = [[2, 8, 6, 1, 1, 0, 0], [2, 5, 0, 0, 0, 0, 0]]
    np.testing.assert_array_equal(received, expected)
    received = mixed_inputs(TARGET_IDS, PREDICTED, everywhere, vocabulary_size=10)
    np.testing.assert_array_equal(received, [[2, 8, 6, 9, 1, 0, 0], expected[1]])


def test_where_they_are_drawn():
    drawn = np.zeros_like(TARGET_IDS, bool)
    np.testing.assert_array_equal(mixed_inputs(TARGET_IDS, PREDICTED, drawn, 9), TARGET_IDS)
    drawn[0, 2] = True
    received = mixed_inputs(TARGET_IDS, PREDICTED, drawn, 9)
    np.testing.assert_array_equal(received, [[2, 5, 6, 7, 1, 0, 0], TARGET_IDS[1]])
    drawn[0, 1] = True
    received = mixed_inputs(TARGET_IDS, PREDICTED, drawn, 9)
    np.testing.assert_array_equal(received, [[2, 8, 6, 7, 1, 0, 0], TARGET_IDS[1]])


def test_search_would_not_go_on_after_padding_start_or_end():
    everywhere = np.ones_like(TARGET_IDS, bool)
    for special in (0, 2, 3):
        predicted = np.full_like(TARGET_IDS, special)
        received = mixed_inputs(TARGET_IDS, predicted, everywhere, 9)
        np.testing.assert_array_equal(received, TARGET_IDS)
    received = mixed_inputs(TARGET_IDS, np.ones_like(TARGET_IDS), everywhere, 9)
    np.testing.assert_array_equal(received, [[2, 1, 1, 1, 1, 0, 0], [2, 1, 0, 0, 0, 0, 0]])

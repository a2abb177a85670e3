import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import batches, word_dropout
from kerasnmt.ids import END_ID, UNKNOWN_ID
from kerasnmt.text import CharacterTokenizer

LETTERS = CharacterTokenizer("abcdefghij")
PAIRS = [("abcdefghij" * 3, "jihgfedcba" * 3)] * 120


@pytest.fixture(scope="module")
def dataset():
    made = list(batches(PAIRS, LETTERS, batch_size=20, shuffle=False))
    return tf.data.Dataset.from_tensor_slices(
        tf.nest.map_structure(lambda *one: tf.stack(one), *made)
    )


def in_numpy(dataset):
    return [tf.nest.map_structure(np.asarray, batch) for batch in dataset]


def assert_equal(one, other):
    tf.nest.map_structure(np.testing.assert_array_equal, one, other)


def test_only_words_of_the_inputs_become_unknown(dataset):
    whole, dropped = in_numpy(dataset), in_numpy(word_dropout(dataset, 0.2, seed=1))
    assert word_dropout(dataset, 0.2).element_spec == dataset.element_spec
    assert len(dropped) == len(whole) == 6
    shares = {"source_ids": [], "target_ids": []}
    for (inputs, *rest), (plain, *others) in zip(dropped, whole, strict=True):
        assert_equal(rest, others)
        assert inputs.keys() == plain.keys()
        for name, found in shares.items():
            changed = inputs[name] != plain[name]
            assert set(inputs[name][changed]) == {UNKNOWN_ID}
            assert plain[name][changed].min() > END_ID
            found.append(changed[plain[name] > END_ID])
    # 3,600 words a side: within 3 deviations of a fifth.
    for found in shares.values():
        assert np.mean(np.concatenate(found)) == pytest.approx(0.2, abs=0.02)
    # Sides, rows and batches have different random numbers.
    source, target = (np.concatenate(shares[name]) for name in shares)
    assert np.mean(source == target) < 0.8
    assert np.mean(source[:600] == source[600:1200]) < 0.8
    assert np.mean(source[:30] == source[30:60]) < 1


def test_the_same_seed_and_number_drop_the_same(dataset):
    first = in_numpy(word_dropout(dataset, 0.5, seed=1))
    assert_equal(in_numpy(word_dropout(dataset, 0.5, seed=1)), first)
    # Interrupted at batch 4 of the second of two epochs.
    both = in_numpy(word_dropout(dataset.repeat(2), 0.5, seed=1))
    rest = word_dropout(dataset.repeat(2).skip(4), 0.5, seed=1, first_batch=4)
    assert_equal(in_numpy(rest), both[4:])
    other = in_numpy(word_dropout(dataset, 0.5, seed=2))
    assert np.any(other[0][0]["source_ids"] != first[0][0]["source_ids"])
    # With `repeat` first, the second epoch has other words than the first.
    assert np.any(both[6][0]["source_ids"] != both[0][0]["source_ids"])


def test_what_a_copying_model_is_to_copy_stays():
    # The pair "a x b y" and "x a b", where only a and b are in the vocabulary.
    rows = {
        "source_ids": [4, 1, 5, 1, 3],
        "target_ids": [2, 1, 4, 5],
        "extended_source_ids": [4, 6, 5, 7, 3],
    }
    rows = {name: np.array([ids] * 50, "int32") for name, ids in rows.items()}
    targets, weights = np.array([[6, 4, 5, 3]] * 50, "int32"), np.ones((50, 4), "float32")
    dataset = tf.data.Dataset.from_tensors((rows, targets, weights))
    ((inputs, targets, weights),) = in_numpy(dataset)
    ((dropped, *rest),) = in_numpy(word_dropout(dataset, 0.9))
    assert_equal(rest, [targets, weights])
    assert_equal(dropped["extended_source_ids"], inputs["extended_source_ids"])
    assert np.mean(dropped["source_ids"] == inputs["source_ids"]) < 0.9
    np.testing.assert_array_equal(dropped["target_ids"][:, 0], 2)


class TestAModelThatCopies:
    """The pair "x a b x c" and "x b a d", where a, b, c and d are in the vocabulary, ids 4 to 7."""

    def rows(self, context=None):
        rows = {
            "source_ids": [1, 4, 5, 1, 6, 3, 0],
            "target_ids": [2, 1, 5, 4, 7],
            "extended_source_ids": [8, 4, 5, 8, 6, 3, 0],
        }
        if context:
            rows |= {"context_ids": context[0], "extended_context_ids": context[1]}
        rows = {name: np.array([ids] * 400, "int32") for name, ids in rows.items()}
        targets = np.array([[8, 5, 4, 7, 3]] * 400, "int32")
        return tf.data.Dataset.from_tensors((rows, targets, np.ones((400, 5), "float32")))

    def test_a_dropped_word_is_to_be_copied(self):
        ((inputs, targets, _),) = in_numpy(word_dropout(self.rows(), 0.3, vocabulary_size=8))
        dropped = inputs["source_ids"] == 1
        # By hand: the extended id of a word is 8 and its first position.
        extended = inputs["extended_source_ids"]
        columns = [*zip(extended.T, dropped.T, strict=True)]
        for position, word in ((1, 4), (2, 5), (4, 6)):
            column, is_dropped = columns[position]
            np.testing.assert_array_equal(column, np.where(is_dropped, 8 + position, word))
            assert np.mean(is_dropped) == pytest.approx(0.3, abs=0.07)
        np.testing.assert_array_equal(extended[:, [0, 3, 5, 6]], [[8, 8, 3, 0]] * 400)
        # The targets name the words as the sources do, and the decoder reads them as unknown.
        np.testing.assert_array_equal(targets[:, :3], extended[:, [0, 2, 1]])
        np.testing.assert_array_equal(targets[:, 3:], [[7, 3]] * 400)
        np.testing.assert_array_equal(
            inputs["target_ids"][:, 2:4], np.where(dropped[:, [2, 1]], 1, [[5, 4]] * 400)
        )
        np.testing.assert_array_equal(inputs["target_ids"][:, [0, 1, 4]], [[2, 1, 7]] * 400)
        assert len(np.unique(extended, axis=0)) == 8  # words are dropped alone

    def test_a_context_shares_the_words_of_the_source(self):
        context = [7, 1, 4, 1, 3], [7, 9, 4, 8, 3]  # d, y, a and x
        rows = self.rows(context)
        ((inputs, targets, _),) = in_numpy(word_dropout(rows, 0.5, vocabulary_size=8))
        source, other = inputs["extended_source_ids"], inputs["extended_context_ids"]
        np.testing.assert_array_equal(other[:, 2:4], source[:, [1, 0]])
        np.testing.assert_array_equal(other[:, 1], 8 + 7 + 1)  # y, first in the context
        assert set(other[:, 0]) == {7, 8 + 7}
        np.testing.assert_array_equal(targets[:, 3], other[:, 0])
        np.testing.assert_array_equal(inputs["context_ids"] == 1, other >= 8)

    def test_batches_without_extended_ids_are_refused(self, dataset):
        with pytest.raises(ValueError, match="extended_vocabulary=True"):
            word_dropout(dataset, 0.1, vocabulary_size=14)


@pytest.mark.parametrize("copies", [False, True])
def test_kept_ids_stay_in_the_sources(copies):
    letters = CharacterTokenizer("abcdefghij" + "k" * (not copies))
    pairs = [("abcdefghij" * 3, "abc")] * 20
    dataset = batches(pairs, letters, batch_size=20, shuffle=False, extended_vocabulary=copies)
    kept, size = letters.tokenize(["ab"]).to_tensor()[0], letters.vocabulary_size
    options = {"vocabulary_size": size if copies else None, "seed": 1}
    ((plain, *_),) = in_numpy(dataset)
    for kept_ids in ([], [*kept.numpy()]):
        ((inputs, *_),) = in_numpy(word_dropout(dataset, 0.5, kept_ids=kept_ids, **options))
        stays = np.isin(plain["source_ids"], kept)
        share = np.mean((inputs["source_ids"] != plain["source_ids"])[stays])
        assert share == 0 if kept_ids else 0.3 < share < 0.7
        others = ~stays & (plain["source_ids"] > END_ID)
        assert 0.3 < np.mean(inputs["source_ids"][others] == UNKNOWN_ID) < 0.7


def test_no_dropout_is_the_dataset(dataset):
    assert word_dropout(dataset, 0.0) is dataset


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_rates_out_of_range(dataset, rate):
    with pytest.raises(ValueError, match=rf"0 <= rate < 1; .* Received: rate={rate}"):
        word_dropout(dataset, rate)

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import batches, describe_batches
from kerasnmt.text import WordTokenizer
from kerasnmt.training import LengthHistograms

PAIRS = [("a b c", "a"), ("a b", "b"), ("c", "a b c c b a"), ("a", "c"), ("b", "a b")]


@pytest.fixture(scope="module")
def tokenizer():
    return WordTokenizer.train(PAIRS, 7)


def begin(folder, data, steps=0):
    """Start training, with an optimizer that has made a number of steps."""
    callback = LengthHistograms(folder, data)
    callback.set_model(SimpleNamespace(optimizer=SimpleNamespace(iterations=tf.constant(steps))))
    callback.on_train_begin()


def counted(bars):
    """Return the number of sentences of each length, from the bars (left, right, number)."""
    assert all(right - left == 1 for left, right, _ in bars)
    return {(left + right) / 2: number for left, right, number in bars}


@pytest.mark.parametrize(
    ("known", "options"),
    [
        (False, {"batch_size": 2, "shuffle": False}),
        pytest.param(False, {"seed": 1}, marks=pytest.mark.thorough("makes other batches")),
        pytest.param(
            *(True, {"batch_size": 2, "shuffle": False}),
            marks=pytest.mark.thorough("makes other batches"),
        ),
        (True, {"seed": 1}),
    ],
)
def test_each_length_has_a_bar(events, tmp_path, tokenizer, known, options):
    data = batches(PAIRS, tokenizer, **options)
    begin(tmp_path, describe_batches(data).lengths if known else data)
    curves = events(tmp_path / "data")
    ((source_step, source),) = curves.pop("length/source")
    ((target_step, target),) = curves.pop("length/target")
    assert not curves and source_step == target_step == 0
    # Tokens and the end token.
    assert counted(source) == {2: 3, 3: 1, 4: 1}
    assert counted(target) == {2: 3, 3: 1, 4: 0, 5: 0, 6: 0, 7: 1}


def test_sentences_of_one_length(events, tmp_path, tokenizer):
    begin(tmp_path, batches([("a b", "c")] * 3, tokenizer, batch_size=2))
    ((_, bars),) = events(tmp_path / "data")["length/source"]
    assert bars == [[2.5, 3.5, 3.0]]


def test_a_side_without_sentences_has_no_bars(events, tmp_path):
    begin(tmp_path, {"source": [0, 0, 3], "target": []})
    assert events(tmp_path / "data").keys() == {"length/source"}


def test_many_lengths_fall_into_their_own_bars(events, tmp_path):
    lengths = np.arange(2, 101)
    ids = np.tril(np.full((99, 100), 4), 1)
    begin(tmp_path, tf.data.Dataset.from_tensors(({"source_ids": ids}, ids, ids)))
    ((_, bars),) = events(tmp_path / "data")["length/target"]
    bars = np.array(bars)
    assert bars.shape == (99, 3) and (bars[:, 2] == 1).all()
    assert ((bars[:, 0] <= lengths) & (lengths <= bars[:, 1])).all()


def test_a_resumed_run_has_them_already(tmp_path, tokenizer):
    begin(tmp_path, batches(PAIRS, tokenizer, batch_size=5), steps=1)
    assert not (tmp_path / "data").exists()

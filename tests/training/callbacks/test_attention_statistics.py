from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from kerasnmt.data import batches
from kerasnmt.text import WordTokenizer
from kerasnmt.training import AttentionStatistics
from kerasnmt.zoo import luong_dot_lstm

# Two sentences, the second one of a single real word.
WEIGHTS = np.array(
    [
        [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]],
        [[0.5, 0.5, 0.0], [0.9, 0.1, 0.0], [0.9, 0.1, 0.0]],
    ],
    "float32",
)
TARGETS = np.array([[5, 6, 3], [3, 0, 0]], "int32")


def logs_of(callback, model, logs):
    callback.set_model(model)
    callback.on_train_begin()
    callback.on_epoch_end(0, logs)
    return logs


def test_by_hand():
    model = SimpleNamespace(attend=lambda inputs: {"weights": tf.constant(WEIGHTS)})
    dataset = tf.data.Dataset.from_tensors(({"source_ids": TARGETS}, TARGETS, TARGETS))
    logs = logs_of(AttentionStatistics(dataset), model, {"loss": 1.0})
    # Entropies of the four real words: 0, ln 2, 3/2 ln 2, ln 2.
    assert logs["val_attention_entropy"] == pytest.approx(3.5 * np.log(2) / 4)
    # Earlier weights: none; 0.5 of 1; 0.25, 0.25, none; none.
    assert logs["val_attention_overlap"] == pytest.approx((0.5 + 0.5) / 4)
    assert set(logs) == {"loss", "val_attention_entropy", "val_attention_overlap"}


def test_padding_and_batches_change_nothing():
    pairs = [("a b c", "a"), ("a", "b c a b"), ("b a", "c")]
    tokenizer = WordTokenizer.train(pairs, 7)
    model = luong_dot_lstm(tokenizer, units=4, embedding_dim=3)
    together, alone = (
        logs_of(AttentionStatistics(batches(pairs, tokenizer, batch_size=size)), model, {})
        for size in (3, 1)
    )
    assert together == pytest.approx(alone, rel=1e-5)
    assert 0 < together["val_attention_entropy"] < np.log(4)
    assert 0 < together["val_attention_overlap"] < 1

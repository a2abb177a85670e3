import keras
import numpy as np
import pytest

from kerasnmt.training import Replayed

INPUTS = np.zeros((2, 1), "float32")


class Score(keras.callbacks.Callback):
    """Callback that puts given scores into the logs of the epochs."""

    def __init__(self, scores, records):
        super().__init__()
        self.scores, self.records = scores, records

    def on_epoch_end(self, epoch, logs=None):
        logs["val_bleu"] = self.scores[epoch]


class Record(keras.callbacks.Callback):
    """Callback that records the logs and the learning rate, like a history on disk."""

    def __init__(self, records):
        super().__init__()
        self.records, self.rates = records, []

    def on_epoch_end(self, epoch, logs=None):
        self.records.append({"epoch": epoch + 1, **logs})
        self.rates.append(float(self.model.optimizer.learning_rate))


def train(callback, scores, records, epochs):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.8), loss="mse", run_eagerly=True)
    record = Record(records)
    options = {"initial_epoch": len(records), "epochs": epochs, "verbose": 0}
    callbacks = [Score(scores, records), Replayed(callback, records), record]
    model.fit(INPUTS, INPUTS, callbacks=callbacks, **options)
    return record.rates


SCORES = [10.0, 11.0, 10.5, 10.6, 10.9, 10.8, 12.0, 11.0]
# Two epochs without improvement over 11.0, and two more.
RATES = [0.8, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.2]
ELSEWHERE = pytest.mark.thorough("interrupts at a further place")


def plateau():
    options = {"mode": "max", "factor": 0.5, "patience": 2, "min_delta": 0.0}
    return keras.callbacks.ReduceLROnPlateau("val_bleu", **options)


def test_a_plateau_is_found():
    np.testing.assert_allclose(train(plateau(), SCORES, [], 8), RATES)


@pytest.mark.parametrize(
    "interrupted",
    [
        pytest.param(1, marks=ELSEWHERE),
        pytest.param(2, marks=ELSEWHERE),
        3,
        4,
        pytest.param(5, marks=ELSEWHERE),
    ],
)
def test_a_plateau_is_found_across_an_interruption(interrupted):
    records = []
    rates = train(plateau(), SCORES, records, interrupted)
    rates += train(plateau(), SCORES, records, 8)
    np.testing.assert_allclose(rates, RATES)


def test_a_plateau_is_found_by_several_calls_of_fit():
    """The rest of an interrupted epoch is a separate call of `fit`."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), loss="mse", run_eagerly=True)
    record = Record([])
    replayed = Replayed(plateau(), record.records, learning_rate=0.8)
    callbacks = [Score(SCORES, record.records), replayed, record]
    for epochs in (3, 4, 5, 8):
        begun = {"initial_epoch": len(record.records), "epochs": epochs, "verbose": 0}
        model.fit(INPUTS, INPUTS, callbacks=callbacks, **begun)
    np.testing.assert_allclose(record.rates, RATES)


def test_two_callbacks_are_replayed_side_by_side():
    """A learning rate that one of them has reduced does not change."""
    records, rates = [], []
    for epochs in (4, 8):
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), loss="mse", run_eagerly=True)
        record = Record(records)
        stopping = keras.callbacks.EarlyStopping("val_bleu", mode="max", patience=9)
        callbacks = [
            Score(SCORES, records),
            Replayed(plateau(), records, learning_rate=0.8),
            Replayed(stopping, records),
            record,
        ]
        begun = {"initial_epoch": len(records), "epochs": epochs, "verbose": 0}
        model.fit(INPUTS, INPUTS, callbacks=callbacks, **begun)
        rates += record.rates
    np.testing.assert_allclose(rates, RATES)


def test_training_stops_early_across_an_interruption():
    scores = [10.0, 11.0, 10.5, 10.6, 10.7, 12.0]
    records = []
    for epochs in (4, 6):
        stopping = keras.callbacks.EarlyStopping("val_bleu", mode="max", patience=3)
        train(stopping, scores, records, epochs)
    assert [record["epoch"] for record in records] == [1, 2, 3, 4, 5]

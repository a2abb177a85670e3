import os
import signal
import threading

import keras
import numpy as np
import pytest

from kerasnmt.training import Checkpoint, Interruption, Place, Terminated

INPUTS = np.ones((12, 1), "float32")
STEPS = 4  # batches an epoch, of 3 rows


class Signal(keras.callbacks.Callback):
    """Sends signals to this process, in the middle of a method of the callbacks."""

    def __init__(self, number, batch=None, times=1, in_validation=False):
        super().__init__()
        self.number, self.batch, self.times = number, batch, times
        self.in_validation = in_validation

    def on_train_batch_end(self, batch, logs=None):
        if batch == self.batch:
            for _ in range(self.times):
                os.kill(os.getpid(), self.number)

    def on_test_batch_end(self, batch, logs=None):
        if self.in_validation:
            os.kill(os.getpid(), self.number)


def fit(directory, sender):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", loss="mse", run_eagerly=True)
    checkpoint = Checkpoint(directory)
    interruption = Interruption(checkpoint)
    options = {"batch_size": 3, "epochs": 2, "verbose": 0}
    with interruption:
        callbacks = [sender, checkpoint, interruption]
        data = (INPUTS, INPUTS)
        model.fit(*data, validation_data=data, callbacks=callbacks, **options)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)]
)
def test_a_signal_ends_the_training_with_a_checkpoint(tmp_path, number, error):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt) as caught:
        fit(tmp_path, Signal(number, batch=1))
    assert caught.type is error
    assert Checkpoint(tmp_path).place == Place(0, 2)
    assert signal.getsignal(number) is before


def test_after_the_last_batch_there_is_no_checkpoint_of_a_batch(tmp_path):
    with pytest.raises(Terminated):
        fit(tmp_path, Signal(signal.SIGTERM, batch=STEPS - 1))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "sender",
    [
        Signal(signal.SIGTERM, in_validation=True),
        Signal(signal.SIGTERM, batch=1, times=2),
    ],
    ids=["in validation", "the second one"],
)
def test_a_signal_that_does_not_wait(tmp_path, sender):
    with pytest.raises(Terminated):
        fit(tmp_path, sender)
    assert not list(tmp_path.iterdir())


def test_in_another_thread_signals_are_left_alone(tmp_path):
    handlers = []

    def run():
        with Interruption(Checkpoint(tmp_path)):
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]

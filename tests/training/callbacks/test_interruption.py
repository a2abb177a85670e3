import os
import signal
import threading
import time

import keras
import numpy as np
import pytest

from kerasnmt.training import Checkpoint, Interruption, Progress, Terminated

INPUTS = np.ones((12, 1), "float32")
STEPS = 4  # batches an epoch, of 3 rows


class Signal(keras.callbacks.Callback):
    """Callback that sends signals to this process, in a method of the callbacks."""

    def __init__(self, number, batch=None, times=1, in_validation=False):
        super().__init__()
        self.number, self.batch, self.times = number, batch, times
        self.in_validation = in_validation

    def on_train_batch_end(self, batch, logs=None):
        if batch == self.batch:
            for _ in range(self.times):
                os.kill(os.getpid(), self.number)

    def on_test_batch_end(self, batch, logs=None):
        if self.in_validation and batch == 0:
            os.kill(os.getpid(), self.number)


@pytest.fixture(autouse=True)
def sigint():
    """Background jobs of a shell, and their child processes, ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
    assert Checkpoint(tmp_path).progress == Progress(0, 2)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    "options", [{"batch": STEPS - 1}, {"in_validation": True}], ids=["last batch", "validation"]
)
def test_after_the_last_batch_the_epoch_ends_first(tmp_path, options):
    with pytest.raises(Terminated):
        fit(tmp_path, Signal(signal.SIGTERM, **options))
    assert Checkpoint(tmp_path).progress == Progress(1, 0)


def test_a_second_signal_does_not_wait(tmp_path):
    with pytest.raises(Terminated):
        fit(tmp_path, Signal(signal.SIGTERM, batch=1, times=2))
    assert not list(tmp_path.iterdir())


def test_outside_of_epochs_a_signal_does_not_wait(tmp_path):
    with pytest.raises(Terminated), Interruption(Checkpoint(tmp_path)):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)


def test_an_ignored_signal_stays_ignored(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interruption(Checkpoint(tmp_path)):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_signals_are_left_alone(tmp_path):
    handlers = []

    def run():
        with Interruption(Checkpoint(tmp_path)):
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]

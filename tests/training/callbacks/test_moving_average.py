import keras
import numpy as np
import pytest

from kerasnmt.training import MovingAverage

INPUTS = np.arange(12, dtype="float32").reshape(6, 2) / 10
TARGETS = INPUTS.sum(axis=1, keepdims=True)
MOMENTUM = 0.75


class Weights(keras.callbacks.Callback):
    """Callback that records the weights after each step, in validation, and after each epoch."""

    def __init__(self):
        super().__init__()
        self.steps, self.validated, self.epochs = [], [], []

    def on_train_batch_end(self, batch, logs=None):
        self.steps.append(self.model.get_weights()[0])

    def on_test_batch_end(self, batch, logs=None):
        self.validated.append(self.model.get_weights()[0])

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(self.model.get_weights()[0])


def make_model(optimizer):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(optimizer, loss="mse", run_eagerly=True)
    return model


def fit(model, callbacks, validation=True):
    data = (INPUTS, TARGETS)
    options = {"batch_size": 2, "shuffle": False, "verbose": 0, "callbacks": callbacks}
    model.fit(*data, epochs=2, validation_data=data if validation else None, **options)


@pytest.fixture(scope="module")
def plain():
    """The weights of training without an average."""
    weights = Weights()
    fit(make_model(keras.optimizers.Adam(0.1)), [weights])
    return weights


@pytest.mark.parametrize(
    ("scaled", "validation"),
    [
        (True, True),
        (False, False),
        pytest.param(True, False, marks=pytest.mark.thorough("joins the options otherwise")),
        pytest.param(False, True, marks=pytest.mark.thorough("joins the options otherwise")),
    ],
)
def test_validation_sees_the_average_and_training_the_weights(plain, validation, scaled):
    optimizer = keras.optimizers.Adam(0.1, use_ema=True, ema_momentum=MOMENTUM)
    if scaled:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0)
    inside, outside = Weights(), Weights()
    fit(make_model(optimizer), [MovingAverage([inside]), outside], validation)
    np.testing.assert_allclose(outside.steps, plain.steps, rtol=1e-6)  # as in training
    np.testing.assert_allclose(outside.epochs, [plain.steps[2], plain.steps[5]], rtol=1e-6)

    average, averages = plain.steps[0], []
    for weights in plain.steps:
        average = MOMENTUM * average + (1 - MOMENTUM) * weights
        averages.append(average)
    np.testing.assert_allclose(inside.epochs, [averages[2], averages[5]], rtol=1e-5)
    if validation:
        np.testing.assert_allclose(outside.validated[0], averages[2], rtol=1e-5)
        np.testing.assert_allclose(outside.validated[-1], averages[5], rtol=1e-5)


def test_training_goes_on_after_an_interrupted_validation():
    """An epoch ends with the weights of its last step, not with those of the interrupted epoch."""

    class Stop(keras.callbacks.Callback):
        def on_test_begin(self, logs=None):
            raise KeyboardInterrupt

    model = make_model(keras.optimizers.Adam(0.1, use_ema=True, ema_momentum=MOMENTUM))
    average, weights = MovingAverage([]), Weights()
    with pytest.raises(KeyboardInterrupt):
        fit(model, [average, Stop()])
    fit(model, [average, weights])
    np.testing.assert_array_equal(weights.epochs, [weights.steps[2], weights.steps[5]])


def test_an_optimizer_without_an_average():
    with pytest.raises(ValueError, match=r"Received: Adam with use_ema=False\.$"):
        fit(make_model(keras.optimizers.Adam(0.1)), [MovingAverage([])])


def test_an_evaluation_by_itself_sees_the_weights():
    model = make_model(keras.optimizers.Adam(0.1, use_ema=True, ema_momentum=MOMENTUM))
    callback, seen = MovingAverage([]), Weights()
    fit(model, [callback])
    model.layers[0].kernel.assign([[5.0], [6.0]])
    model.evaluate(INPUTS, TARGETS, verbose=0, callbacks=[callback, seen])
    np.testing.assert_array_equal(seen.validated[0], [[5.0], [6.0]])

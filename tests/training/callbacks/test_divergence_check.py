import math

import keras
import numpy as np
import pytest

from kerasnmt.training import BestModel, DivergenceCheck

INPUTS = np.ones((6, 1), "float32")


def fit(path, rate=0.1, weights=(1.0,) * 6, validation=None):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(rate), loss="mse", run_eagerly=True)
    callbacks = [DivergenceCheck(), BestModel(path, monitor="val_loss")]
    options = {"batch_size": 2, "epochs": 2, "shuffle": False, "verbose": 0}
    options |= {"sample_weight": np.array(weights), "validation_data": (INPUTS, INPUTS)}
    if validation is not None:
        options["validation_data"] = (INPUTS, validation)
    model.fit(INPUTS, 2 * INPUTS, callbacks=callbacks, **options)


def test_a_finite_loss_is_left_alone(tmp_path):
    fit(tmp_path / "model.keras")
    assert (tmp_path / "model.keras").exists()


def test_the_first_loss_that_is_not_finite_ends_the_training(tmp_path):
    with pytest.raises(FloatingPointError) as caught:
        fit(tmp_path / "model.keras", rate=1e30)
    assert str(caught.value) == (
        "The loss of batch 2 in epoch 1 is inf: training diverges. Try a lower learning rate, "
        "a warm-up or a lower clip norm, and check the sample weights for NaN."
    )
    assert not (tmp_path / "model.keras").exists()


def test_a_sample_weight_of_nan(tmp_path):
    message = "The loss of batch 3 in epoch 1 is nan"
    with pytest.raises(FloatingPointError, match=message):
        fit(tmp_path / "model.keras", weights=[1.0, 1.0, 1.0, 1.0, 1.0, math.nan])


def test_a_perplexity_that_overflows():
    check = DivergenceCheck()
    check.on_epoch_begin(1)
    check.on_train_batch_end(0, {"loss": 88.0, "perplexity": 1.65e38})
    message = "The perplexity of batch 1 in epoch 2 is inf"
    with pytest.raises(FloatingPointError, match=message):
        check.on_train_batch_end(0, {"loss": 89.0, "perplexity": math.inf})


def test_the_validation_loss(tmp_path):
    """The last step of an epoch can make the weights NaN."""
    message = "The loss of the validation data in epoch 1 is nan"
    with pytest.raises(FloatingPointError, match=message):
        fit(tmp_path / "model.keras", validation=np.full((6, 1), np.nan))
    assert not (tmp_path / "model.keras").exists()

import keras
import numpy as np
import pytest

from kerasnmt.training import Checkpoint

INPUTS = np.arange(12, dtype="float32").reshape(6, 2)


def make_model(seed):
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.05), loss="mse")
    return model


def fit(model, epochs, initial_epoch=0, callbacks=()):
    options = {"batch_size": 2, "shuffle": False, "verbose": 0, "callbacks": list(callbacks)}
    targets = INPUTS.sum(axis=1, keepdims=True)
    return model.fit(INPUTS, targets, epochs=epochs, initial_epoch=initial_epoch, **options)


def test_training_in_two_parts_equals_training_in_one(tmp_path):
    whole = make_model(1)
    fit(whole, 5)
    fit(make_model(1), 2, callbacks=[Checkpoint(tmp_path)])

    resumed = make_model(2)
    checkpoint = Checkpoint(tmp_path)
    initial_epoch = checkpoint.restore(resumed)
    history = fit(resumed, 5, initial_epoch, [checkpoint])

    assert history.epoch == [2, 3, 4]
    assert int(resumed.optimizer.iterations) == 15
    for weight, expected in zip(resumed.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(weight, expected, rtol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["epoch_0005.weights.h5"]


def test_nothing_to_restore(tmp_path):
    model = make_model(1)
    before = model.get_weights()
    assert Checkpoint(tmp_path / "none").restore(model) == 0
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_a_failed_write_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    model = make_model(1)
    checkpoint = Checkpoint(tmp_path)
    fit(model, 1, callbacks=[checkpoint])

    def fail(path):
        path.write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(model, "save_weights", fail)
    with pytest.raises(OSError, match="no space left"):
        checkpoint.on_epoch_end(1)
    assert [path.name for path in tmp_path.iterdir()] == ["epoch_0001.weights.h5"]
    assert Checkpoint(tmp_path).restore(make_model(2)) == 1

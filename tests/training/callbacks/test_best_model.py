import keras
import numpy as np
import pytest

from kerasnmt.training import BestModel


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, use_bias=False)])
    model.compile("adam", loss="mse", run_eagerly=True)
    model.train_on_batch(np.ones((2, 2)), np.ones((2, 1)))
    return model


def saved(path):
    return keras.saving.load_model(path).get_weights()[0].ravel().tolist()


def test_only_improvements_are_written(model, tmp_path):
    callback = BestModel(tmp_path / "model.keras", earlier=[{"val_bleu": 10.0}, {"val_bleu": 8.0}])
    callback.set_model(model)
    for epoch, score in enumerate([9.0, 10.0, 12.0, 11.0, 13.0]):
        model.set_weights([np.full((2, 1), score)])
        callback.on_epoch_end(epoch, {"val_bleu": score})
        if epoch < 2:
            assert not list(tmp_path.iterdir())
        else:
            assert saved(tmp_path / "model.keras") == [[12, 12], [12, 12], [13, 13]][epoch - 2]
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]


def kept(model, path, epochs, earlier=()):
    """Return the epoch, counted from 0, whose model is saved, given BLEU and loss of each epoch."""
    callback = BestModel(path, earlier=earlier)
    callback.set_model(model)
    for epoch, (bleu, loss) in enumerate(epochs):
        model.set_weights([np.full((2, 1), epoch)])
        callback.on_epoch_end(epoch, {"val_bleu": bleu, "val_loss": loss})
    return saved(path)[0] if path.exists() else None


def test_of_equal_scores_the_lower_loss_is_kept(model, tmp_path):
    path = tmp_path / "model.keras"
    assert kept(model, path, [(0.0, 5.0), (0.0, 3.0), (0.0, 4.0)]) == 1
    assert kept(model, path, [(0.0, 5.0), (2.0, 4.0), (1.0, 3.0), (2.0, 4.5)]) == 1
    assert kept(model, path, [(2.0, 4.0), (2.0, 4.0)]) == 0
    assert kept(model, path, [(0.0, float("nan")), (0.0, 9.0), (0.0, float("nan"))]) == 1


def test_equal_scores_when_training_resumes(model, tmp_path):
    earlier = [
        {"val_bleu": 0.0, "val_loss": None},  # as a history has what is no number
        {"val_bleu": 0.0, "val_loss": 3.0},
        {"val_bleu": 0.0, "val_loss": 4.0},
    ]
    path = tmp_path / "model.keras"
    assert kept(model, path, [(0.0, 3.5), (0.0, 3.0)], earlier) is None
    assert kept(model, path, [(0.0, 3.5), (0.0, 2.5)], earlier) == 1


def test_the_optimizer_is_left_out(model, tmp_path):
    callback = BestModel(tmp_path / "model.keras")
    callback.set_model(model)
    callback.on_epoch_end(0, {"val_bleu": 0.0})
    assert not keras.saving.load_model(tmp_path / "model.keras").compiled
    assert model.optimizer is not None


def test_epochs_without_the_score(model, tmp_path):
    callback = BestModel(tmp_path / "model.keras")
    callback.set_model(model)
    callback.on_epoch_end(0, {"loss": 1.0})
    assert not list(tmp_path.iterdir())


def test_the_lowest_loss(model, tmp_path):
    callback = BestModel(tmp_path / "model.keras", monitor="val_loss")
    callback.set_model(model)
    logs = [{"val_loss": loss, "val_bleu": 0.0} for loss in (2.0, 2.5, 1.5, float("nan"), 1.5)]
    assert [callback.offer(one) for one in logs] == [True, False, True, False, False]

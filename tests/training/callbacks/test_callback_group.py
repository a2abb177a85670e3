import keras
import numpy as np

from kerasnmt.training import BestModel
from kerasnmt.training.callbacks.callback_group import OnOneDevice
from kerasnmt.training.devices import Devices
from kerasnmt.zoo import luong_dot_lstm


class Seen(keras.callbacks.Callback):
    """Callback that notes its calls, and the weights of its model."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def on_train_begin(self, logs=None):
        self.calls.append("begin")

    def on_epoch_begin(self, epoch, logs=None):
        self.calls.append(f"epoch {epoch}")

    def on_epoch_end(self, epoch, logs=None):
        self.calls.append(("end", epoch, self.model, self.model.get_weights()))
        logs["val_bleu"] = 10.0

    def on_train_end(self, logs=None):
        self.calls.append("over")


def set_all(model, value):
    model.set_weights([np.full(weight.shape, value) for weight in model.get_weights()])


def test_the_callbacks_see_a_copy_with_the_latest_weights():
    model, seen, logs = luong_dot_lstm(8, 8, units=4, embedding_dim=3), Seen(), {"loss": 1.0}
    group = OnOneDevice([seen], Devices())
    group.set_model(model)
    group.set_params({"steps": 3})
    group.on_train_begin()
    group.on_epoch_begin(0)
    set_all(model, 0.25)
    group.on_epoch_end(0, logs)
    group.on_train_end()
    begin, epoch, (_, number, copy, weights), over = seen.calls
    assert (begin, epoch, number, over) == ("begin", "epoch 0", 0, "over")
    assert copy is not model
    assert all((weight == 0.25).all() for weight in weights)
    assert seen.params == {"steps": 3}
    assert logs == {"loss": 1.0, "val_bleu": 10.0}


def test_a_later_group_saves_the_weights_of_its_own_copy(tmp_path):
    # The average of the epochs is offered in another group than the epochs.
    model = luong_dot_lstm(8, 8, units=4, embedding_dim=3)
    best = BestModel(tmp_path / "model.keras")
    for value, bleu, is_best in ((0.5, 10.0, True), (0.75, 20.0, True), (1.0, 15.0, False)):
        set_all(model, value)
        group = OnOneDevice([best], Devices())
        group.set_model(model)
        group.on_epoch_end(0, {"val_bleu": bleu})
        assert best.is_latest is is_best
    saved = keras.saving.load_model(tmp_path / "model.keras").get_weights()
    assert all((weight == 0.75).all() for weight in saved)

import keras
import numpy as np
import pytest

from kerasnmt import zoo
from kerasnmt.training import LinearStart


@pytest.fixture
def model():
    model = zoo.memory_network(9, embedding_dim=4, hops=1)
    model.compile("sgd")
    return model


def begin(model, **options):
    callback = LinearStart(**options)
    callback.set_model(model)
    callback.on_train_begin()
    return callback


def linear_after(callback, losses):
    """Return whether the hops are linear after each epoch, given the validation losses."""
    states = []
    for epoch, loss in enumerate(losses):
        callback.on_epoch_end(epoch, {"loss": 0.0, "val_loss": loss})
        states.append(bool(float(callback.model.hop.linear)))
    return states


def test_the_softmax_comes_when_the_loss_stops_falling(model):
    assert float(model.hop.linear) == 0.0
    callback = begin(model)
    assert float(model.hop.linear) == 1.0 and callback.ended is None
    assert linear_after(callback, [3.0, 2.0, 2.0, 1.0]) == [True, True, False, False]
    assert callback.ended == 3


def test_patience_counts_epochs_since_the_best(model):
    callback = begin(model, patience=2)
    assert linear_after(callback, [3.0, 3.5, 2.0, 2.5, 2.1]) == [True, True, True, True, False]
    assert callback.ended == 5


def test_a_limit_of_epochs(model):
    assert linear_after(begin(model, max_epochs=2), [3.0, 2.0, 1.0]) == [True, False, False]
    resumed = begin(model, max_epochs=2)
    resumed.on_epoch_end(5, {"val_loss": 1.0})
    assert float(model.hop.linear) == 0.0 and resumed.ended == 6


def test_epochs_of_several_calls_of_fit_are_added(model):
    callback = begin(model, max_epochs=2)
    model.optimizer.iterations.assign(1)
    for loss, linear, ended in [(3.0, True, None), (2.0, False, 2), (1.0, False, 2)]:
        callback.on_train_begin()
        assert linear_after(callback, [loss]) == [linear]
        assert callback.ended == ended


def test_no_number_is_no_better(model):
    assert linear_after(begin(model), [float("nan"), 1.0]) == [False, False]


def test_in_fit_and_in_a_resumed_run(model):
    inputs = {"story_ids": np.array([[[4, 5]]]), "question_ids": np.array([[4]])}
    data = {"x": inputs, "y": np.array([5]), "verbose": 0}
    callback = LinearStart(monitor="loss", max_epochs=3)
    model.fit(**data, epochs=1, callbacks=[callback])
    assert float(model.hop.linear) == 1.0
    # A trained model keeps its state.
    model.fit(**data, epochs=4, callbacks=[again := LinearStart("loss", max_epochs=2)])
    assert float(model.hop.linear) == 0.0 and again.ended == 2
    model.fit(**data, epochs=1, callbacks=[late := LinearStart("loss")])
    assert float(model.hop.linear) == 0.0 and late.ended == 0


def test_what_is_refused(model):
    with pytest.raises(ValueError, match=r"Expected patience >= 1. Received: patience=0"):
        LinearStart(patience=0)
    with pytest.raises(ValueError, match=r"Expected max_epochs >= 1. Received: max_epochs=0"):
        LinearStart(max_epochs=0)
    with pytest.raises(ValueError, match=r"Expected val_loss in .* Received: \['loss'\]"):
        begin(model).on_epoch_end(0, {"loss": 1.0})
    other = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(ValueError, match=r"Expected a MemoryNetwork.*Received: Sequential"):
        begin(other)

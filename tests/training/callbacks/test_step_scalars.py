import keras
import numpy as np
import pytest

from kerasnmt.training import Adam, GradientNorm, StepScalars
from kerasnmt.zoo import encoder_decoder_gru

X = np.arange(20, dtype="float32").reshape(10, 2) / 10
Y = np.sin(np.arange(10, dtype="float32"))[:, None]


class SGD(GradientNorm, keras.optimizers.SGD):
    pass


def by_hand(steps, batch_size=2, decay=0.5):
    """Compute loss and gradient norm of each step, and the norm of the weights after it."""
    w, b = np.array([[0.3], [-0.2]]), np.array([0.1])
    curves = {"loss": [], "gradient_norm": [], "weight_norm": []}
    for step in range(steps):
        rows = np.arange(step * batch_size, (step + 1) * batch_size) % 10
        error = X[rows] @ w + b - Y[rows]
        gradients = 2 * X[rows].T @ error / batch_size, 2 * error.sum(axis=0) / batch_size
        w, b = (
            weight - 0.1 * decay ** (step / 10) * gradient
            for weight, gradient in zip((w, b), gradients, strict=True)
        )
        curves["loss"].append((error**2).mean())
        curves["gradient_norm"].append(np.sqrt(sum((g**2).sum() for g in gradients)))
        curves["weight_norm"].append(np.sqrt((w**2).sum() + (b**2).sum()))
    return curves


def compiled(optimizer=SGD, wrapped=lambda optimizer: optimizer, run_eagerly=True, **options):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="dense")])
    model.set_weights([np.array([[0.3], [-0.2]]), np.array([0.1])])
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5)
    model.compile(wrapped(optimizer(rate)), loss="mse", run_eagerly=run_eagerly, **options)
    return model


def fit(model, callback, batch_size=2, **options):
    data = {"batch_size": batch_size, "shuffle": False, "verbose": 0, **options}
    model.fit(X, Y, callbacks=[callback], **data)


def assert_curve(curve, steps, values):
    assert [step for step, _ in curve] == steps
    np.testing.assert_allclose([value for _, value in curve], values, rtol=1e-4)


@pytest.mark.parametrize(
    "jit_compile", [False, pytest.param(True, marks=pytest.mark.thorough("compiles"))]
)
def test_values_at_the_optimizers_steps(events, tmp_path, jit_compile):
    model = compiled(jit_compile=jit_compile, run_eagerly=not jit_compile)
    fit(model, StepScalars(tmp_path, every=2), epochs=2)
    curves, expected = events(tmp_path / "steps"), by_hand(10)
    steps = [2, 4, 6, 8, 10]
    # An epoch has five steps: the fifth is in no mean, the sixth alone.
    windows = [(0, 2), (2, 4), (5, 6), (6, 8), (8, 10)]
    losses = [np.mean(expected["loss"][first:last]) for first, last in windows]
    assert_curve(curves.pop("loss"), steps, losses)
    assert_curve(curves.pop("learning_rate"), steps, [0.1 * 0.5 ** (n / 10) for n in steps])
    for name in ("gradient_norm", "weight_norm"):
        assert_curve(curves.pop(name), steps, expected[name][1::2])
    assert_curve(curves.pop("weight_norm/dense"), steps, expected["weight_norm"][1::2])
    assert not curves


def test_curves_continue_when_training_resumes(events, tmp_path):
    fit(compiled(), StepScalars(tmp_path / "whole", every=2), epochs=2)
    first, second = compiled(), compiled()
    fit(first, StepScalars(tmp_path / "parts", every=2), epochs=1)
    second.optimizer.build(second.trainable_variables)
    second.set_weights(first.get_weights())
    for variable, value in zip(second.optimizer.variables, first.optimizer.variables, strict=True):
        variable.assign(value)
    fit(second, StepScalars(tmp_path / "parts", every=2), epochs=2, initial_epoch=1)
    assert events(tmp_path / "parts" / "steps") == events(tmp_path / "whole" / "steps")


class GoesOn(keras.callbacks.Callback):
    """Callback that restores the mean of an interrupted epoch, like `Checkpoint`."""

    def on_epoch_begin(self, epoch, logs=None):
        for metric in self.model.metrics:
            if metric.name == "loss":
                metric.total.assign(30.0)
                metric.count.assign(10.0)


@pytest.mark.parametrize(
    "first", [False, pytest.param(True, marks=pytest.mark.thorough("ends where the run ends"))]
)
def test_the_first_loss_of_an_epoch_that_goes_on_is_its_own(events, tmp_path, first):
    model = compiled()
    model.evaluate(X, Y, verbose=0)  # makes the mean
    callbacks = [StepScalars(tmp_path, every=1)]
    callbacks.insert(0 if first else 1, GoesOn())
    model.fit(X, Y, batch_size=2, shuffle=False, verbose=0, callbacks=callbacks)
    curve = events(tmp_path / "steps")["loss"]
    assert_curve(curve, [1, 2, 3, 4, 5], by_hand(5)["loss"])


def test_steps_of_accumulated_gradients(events, tmp_path):
    # A constant rate, because Keras calls a schedule with the batch, not with the step.
    model = compiled(lambda _: SGD(0.1, gradient_accumulation_steps=2))
    fit(model, StepScalars(tmp_path, every=2), batch_size=1, epochs=1)
    curves, expected = events(tmp_path / "steps"), by_hand(5, decay=1.0)
    assert_curve(curves["loss"], [2, 4], [np.mean(expected["loss"][i : i + 2]) for i in (0, 2)])
    assert_curve(curves["gradient_norm"], [2, 4], expected["gradient_norm"][1::2])


def test_accumulation_over_the_end_of_an_epoch(events, tmp_path):
    """With five batches per epoch and two per step, the third step spans two epochs."""
    model = compiled(lambda _: SGD(0.1, gradient_accumulation_steps=2))
    fit(model, StepScalars(tmp_path, every=1), epochs=2)
    curves, expected = events(tmp_path / "steps"), by_hand(4, batch_size=4, decay=1.0)
    assert_curve(curves["gradient_norm"], [1, 2, 3, 4], expected["gradient_norm"])
    assert_curve(curves["weight_norm"], [1, 2, 3, 4], expected["weight_norm"])


def test_several_steps_in_one_execution(events, tmp_path):
    model = compiled(steps_per_execution=3, run_eagerly=False)
    fit(model, StepScalars(tmp_path, every=2), epochs=2)
    curves, expected = events(tmp_path / "steps"), by_hand(10)
    # Keras stops after steps 3, 5, 8 and 10.
    assert_curve(
        curves["loss"],
        [3, 5, 8, 10],
        [np.mean(expected["loss"][i:j]) for i, j in [(0, 3), (3, 5), (5, 8), (8, 10)]],
    )


@pytest.mark.parametrize("optimizer", [SGD, keras.optimizers.SGD])
def test_an_optimizer_that_scales_the_loss(events, tmp_path, optimizer):
    scaled = keras.optimizers.LossScaleOptimizer
    fit(compiled(optimizer, wrapped=scaled), StepScalars(tmp_path, every=5))
    curves, expected = events(tmp_path / "steps"), by_hand(5)
    assert_curve(curves["loss"], [5], [np.mean(expected["loss"])])
    assert_curve(curves["learning_rate"], [5], [0.1 * 0.5**0.5])
    if optimizer is SGD:
        assert_curve(curves["gradient_norm"], [5], expected["gradient_norm"][4:])
    else:
        assert "gradient_norm" not in curves


@pytest.mark.thorough("trains another model")
def test_a_model_of_the_zoo(events, tmp_path):
    model = encoder_decoder_gru(9, units=4, embedding_dim=3)
    model.compile(Adam(0.01), run_eagerly=True)
    ids = np.array([[4, 5, 3], [6, 3, 0]])
    fed = np.array([[2, 4, 5], [2, 6, 0]])
    inputs = {"source_ids": ids, "target_ids": fed}
    model.fit(inputs, ids, verbose=0, callbacks=[StepScalars(tmp_path, every=1)])
    curves = events(tmp_path / "steps")
    for name, part in (("", model), ("/encoder", model.encoder), ("/decoder", model.decoder)):
        squares = sum(np.square(np.array(v)).sum() for v in part.trainable_variables)
        assert_curve(curves[f"weight_norm{name}"], [1], [np.sqrt(squares)])
    assert_curve(curves["gradient_norm"], [1], [float(model.optimizer.gradient_norm)])
    assert_curve(curves["loss"], [1], [model.history.history["loss"][0]])


def test_every_is_a_number_of_steps(tmp_path):
    with pytest.raises(ValueError, match=r"at least 1\. Received: every=0"):
        StepScalars(tmp_path, every=0)

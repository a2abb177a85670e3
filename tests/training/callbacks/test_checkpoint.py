import os
import re

import keras
import numpy as np
import pytest

from kerasnmt.training import Checkpoint, Progress, TrainingClock

INPUTS = np.arange(24, dtype="float32").reshape(12, 2) / 10
TARGETS = INPUTS.sum(axis=1, keepdims=True)
STEPS = 4  # batches an epoch, of 3 rows


class Stop(keras.callbacks.Callback):
    """Callback that interrupts training after a number of batches."""

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_train_batch_end(self, batch, logs=None):
        self.batches -= 1
        if not self.batches:
            raise KeyboardInterrupt


class Losses(keras.callbacks.Callback):
    """Callback that records the loss of `fit` after each batch, by the step of the optimizer."""

    def __init__(self):
        super().__init__()
        self.losses = {}

    def on_train_batch_end(self, batch, logs=None):
        self.losses[int(self.model.optimizer.iterations)] = logs["loss"]


def make_model(seed, units=3, **options):
    keras.utils.set_random_seed(seed)
    layers = [keras.layers.Dense(units), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((2,)), *layers])
    model.compile(keras.optimizers.Adam(0.05), loss="mse", run_eagerly=True, **options)
    return model


def fit(model, epochs, progress=None, callbacks=()):
    """Train from this progress to the end of the epochs, which all have the same order."""
    options = {"batch_size": 3, "shuffle": False, "verbose": 0, "callbacks": list(callbacks)}
    progress = progress or Progress()
    if progress.batch:
        rest = slice(3 * progress.batch, None)
        whole = {"initial_epoch": progress.epoch, "epochs": progress.epoch + 1}
        model.fit(INPUTS[rest], TARGETS[rest], **whole, **options)
        progress = Progress(progress.epoch + 1)
    model.fit(INPUTS, TARGETS, initial_epoch=progress.epoch, epochs=epochs, **options)


def names(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture(scope="module")
def whole():
    """The weights and the losses of uninterrupted training."""
    model, losses = make_model(1), Losses()
    fit(model, 4, callbacks=[losses])
    return model.get_weights(), losses.losses


LATER = pytest.mark.thorough("resumes from a checkpoint as after 5 or 6 batches")


@pytest.mark.parametrize(
    "batches",
    [
        5,
        6,
        pytest.param(7, marks=LATER),
        pytest.param(8, marks=LATER),
        pytest.param(9, marks=LATER),
    ],
)
def test_an_interrupted_training_equals_one_that_was_not(tmp_path, whole, batches):
    weights, expected = whole
    losses = Losses()
    with pytest.raises(KeyboardInterrupt):
        checkpoint = Checkpoint(tmp_path, every=2)
        fit(make_model(1), 4, callbacks=[losses, checkpoint, Stop(batches)])
    resumed, checkpoint = make_model(2), Checkpoint(tmp_path, every=2)
    progress = checkpoint.restore(resumed)
    # Every second batch, and the end of each epoch instead of its last batch.
    assert progress == {5: (1, 0), 6: (1, 2), 7: (1, 2), 8: (1, 2), 9: (2, 0)}[batches]
    fit(resumed, 4, progress, [losses, checkpoint])

    assert int(resumed.optimizer.iterations) == 4 * STEPS
    np.testing.assert_allclose(
        [losses.losses[step] for step in expected], [*expected.values()], rtol=1e-6
    )
    for weight, other in zip(resumed.get_weights(), weights, strict=True):
        np.testing.assert_allclose(weight, other, rtol=1e-6)
    # The latest checkpoint, and the previous one in case the latest is damaged.
    assert names(tmp_path) == ["epoch_0003_batch_00000002.npz", "epoch_0004_batch_00000000.npz"]


def test_metrics_of_compile_begin_anew(tmp_path, whole):
    """Keras creates them at the first batch, too late to restore them. The weights are the same."""
    with pytest.raises(KeyboardInterrupt):
        fit(make_model(1, metrics=["mae"]), 4, callbacks=[Checkpoint(tmp_path, every=2), Stop(6)])
    resumed, checkpoint = make_model(2, metrics=["mae"]), Checkpoint(tmp_path, every=2)
    progress = checkpoint.restore(resumed)
    with pytest.warns(UserWarning, match="the metrics of epoch 2 do not count its first 2 batches"):
        fit(resumed, 4, progress, [checkpoint])
    for weight, other in zip(resumed.get_weights(), whole[0], strict=True):
        np.testing.assert_allclose(weight, other, rtol=1e-6)


@pytest.mark.parametrize(("every", "saved"), [(1, (0, 3)), (2, (0, 3)), (4, (0, 0))])
def test_several_steps_at_once_are_all_counted(tmp_path, every, saved):
    """Keras calls the callback only after the last of them."""
    checkpoint = Checkpoint(tmp_path, every=every)
    with pytest.raises(KeyboardInterrupt):
        fit(make_model(1, steps_per_execution=3), 1, callbacks=[checkpoint, Stop(1)])
    assert checkpoint.progress == saved


def test_without_the_random_state_it_would_not(tmp_path):
    """The previous test can fail: other random numbers of dropout give other weights."""
    fit(make_model(1), 1, callbacks=[Checkpoint(tmp_path)])
    ends = []
    for seed in (1, 2):
        model = make_model(2)
        Checkpoint(tmp_path).restore(model)
        for generator in model.layers[1]._seed_generators:
            generator.state.assign([0, seed])
        fit(model, 2, Progress(1))
        ends.append(model.get_weights()[0])
    assert np.abs(ends[0] - ends[1]).max() > 1e-3


def test_nothing_to_restore(tmp_path):
    model = make_model(1)
    before = model.get_weights()
    assert Checkpoint(tmp_path / "none").restore(model) == Progress(0, 0)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_the_time_goes_on(tmp_path, monkeypatch):
    clock = TrainingClock()
    clock.set(100.0, 150.0)
    fit(make_model(1), 1, callbacks=[Checkpoint(tmp_path, clock=clock)])
    later = TrainingClock()
    Checkpoint(tmp_path, clock=later).restore(make_model(2))
    assert (later.seconds, later.cpu_seconds) == (100.0, 150.0)


def test_the_last_epochs_are_averaged(tmp_path):
    """The weights before the first epoch are not."""
    model, weights = make_model(1), []
    checkpoint = Checkpoint(tmp_path, keep=2)
    assert checkpoint.begin(model) == (0, 0)
    for epoch in range(3):
        fit(model, epoch + 1, Progress(epoch), [checkpoint])
        weights.append(model.get_weights())
        if epoch == 0:
            assert checkpoint.average(model) == 1
    assert names(tmp_path) == [f"epoch_000{n}_batch_00000000.npz" for n in (2, 3)]
    assert checkpoint.average(model) == 2
    for mean, one, other in zip(model.get_weights(), *weights[1:], strict=True):
        np.testing.assert_allclose(mean, (one + other) / 2, rtol=1e-6)

    alone = make_model(1)
    before = alone.get_weights()
    assert Checkpoint(tmp_path / "none").average(alone) == 0
    np.testing.assert_array_equal(alone.get_weights()[0], before[0])


def test_a_failed_write_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path)
    fit(make_model(1), 1, callbacks=[checkpoint])

    def fail(path, *arrays):
        path.write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="no space left"):
        checkpoint.on_epoch_end(1)
    assert names(tmp_path) == ["epoch_0001_batch_00000000.npz"]
    assert Checkpoint(tmp_path).restore(make_model(2)) == Progress(1, 0)


DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "changed": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "foreign": lambda content: b"not a checkpoint",
}


OTHER_DAMAGE = pytest.mark.thorough("damages a checkpoint in another way")


@pytest.mark.parametrize(
    "damage",
    [
        "changed",
        *(pytest.param(name, marks=OTHER_DAMAGE) for name in DAMAGES if name != "changed"),
    ],
)
def test_a_damaged_checkpoint_is_left_out(tmp_path, whole, damage):
    with pytest.raises(KeyboardInterrupt):
        fit(make_model(1), 4, callbacks=[Checkpoint(tmp_path, every=2), Stop(7)])
    older, latest = (tmp_path / name for name in names(tmp_path))
    assert (older.name, latest.name) == (
        "epoch_0001_batch_00000000.npz",
        "epoch_0001_batch_00000002.npz",
    )
    latest.write_bytes(DAMAGES[damage](latest.read_bytes()))
    resumed, checkpoint = make_model(2), Checkpoint(tmp_path, every=2)
    message = rf"checkpoint {latest} is damaged \(.*\); training resumes from {older.name}"
    with pytest.warns(UserWarning, match=message):
        progress = checkpoint.restore(resumed)
    assert progress == checkpoint.progress == (1, 0)
    assert latest.with_suffix(".damaged").exists() and not latest.exists()
    fit(resumed, 4, progress, [checkpoint])
    for weight, other in zip(resumed.get_weights(), whole[0], strict=True):
        np.testing.assert_allclose(weight, other, rtol=1e-6)


def test_without_a_whole_checkpoint_nothing_is_resumed(tmp_path):
    (tmp_path / "epoch_0001_batch_00000000.npz").touch()
    message = r"0\.npz is damaged \(.*\), and so are all older ones; start again in another folder"
    with pytest.raises(ValueError, match=message):
        Checkpoint(tmp_path).restore(make_model(1))


def test_a_checkpoint_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """Without `fsync`, a power failure could leave an empty file with the final name."""
    events = []
    fsync, replace = os.fsync, os.replace

    def record_fsync(descriptor):
        events.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    def record_replace(old, new):
        events.append("replace")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "replace", record_replace)
    fit(make_model(1), 1, callbacks=[Checkpoint(tmp_path)])
    temporary = tmp_path / ".writing.epoch_0001_batch_00000000.npz"
    assert events == [str(temporary), "replace", str(tmp_path)]


def test_a_checkpoint_of_another_model(tmp_path):
    fit(make_model(1), 1, callbacks=[Checkpoint(tmp_path)])
    path = re.escape(str(tmp_path / "epoch_0001_batch_00000000.npz"))
    with pytest.raises(ValueError, match=rf"Received: {path}, whose weights have other shapes\."):
        Checkpoint(tmp_path).restore(make_model(1, units=4))


@pytest.mark.parametrize(("name", "least"), [("every", 1), ("keep", 0)])
def test_numbers_too_small(tmp_path, name, least):
    message = f"Expected {name} to be at least {least}. Received: {name}={least - 1}."
    with pytest.raises(ValueError, match=message):
        Checkpoint(tmp_path, **{name: least - 1})


def test_of_another_training_in_the_folder_the_new_checkpoint_stays(tmp_path):
    for name in ("epoch_0007_batch_00000000.npz", "epoch_0008_batch_00000000.npz"):
        (tmp_path / name).touch()
    fit(make_model(1), 1, callbacks=[Checkpoint(tmp_path)])
    assert "epoch_0001_batch_00000000.npz" in names(tmp_path)


def test_a_scaled_optimizer_is_restored_again_and_again(tmp_path):
    """The optimizer of float16 creates more variables each time it is built."""
    model = make_model(1)
    inner = keras.optimizers.Adam(0.05, use_ema=True, gradient_accumulation_steps=2)
    optimizer = keras.optimizers.LossScaleOptimizer(inner)
    model.compile(optimizer, loss="mse", run_eagerly=True)
    checkpoint = Checkpoint(tmp_path)
    fit(model, 1, callbacks=[checkpoint])
    count = len(optimizer.variables)
    for _ in range(2):
        assert checkpoint.restore(model) == (1, 0)
        assert len(optimizer.variables) == count

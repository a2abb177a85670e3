"""Checkpoints, from which training can resume."""

import os
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from kerasnmt.atomic_write import atomic_write
from kerasnmt.sizes import check_size
from kerasnmt.training.callbacks.epoch_history import TrainingClock
from kerasnmt.training.processes import Processes
from kerasnmt.training.up_to_date import bring_up_to_date


class Progress(NamedTuple):
    """Progress of training.

    Attributes:
        epoch: Number of finished epochs.
        batch: Number of finished batches of the next epoch.
    """

    epoch: int = 0
    batch: int = 0


class Checkpoint(keras.callbacks.Callback):
    """Callback that saves the state of training after each epoch and at regular intervals.

    A checkpoint contains the weights, the state of the optimizer, the state of the random
    generators, the metrics of the epoch so far and the position in the data. Interrupted training
    resumes from it without any difference, if the data can resume too, like
    `kerasnmt.data.batches(…, first_epoch=…)`. With TensorFlow, Keras creates the metrics of
    `compile` at the first batch. If training resumes within an epoch, these metrics count only the
    rest of the epoch, and a warning says so.

    The name of the file contains the progress. The file is written completely or not at all. The
    second latest checkpoint stays too, because the latest one could be damaged.
    `keras.callbacks.BackupAndRestore` does not save the metrics and the random generators, and
    stores the progress in a second file.

    ```python
    checkpoint = Checkpoint("run/checkpoints", every=500)
    epoch, batch = checkpoint.restore(model)
    data = batches(pairs, tokenizer, seed=1, first_epoch=epoch).skip(batch)
    fit = partial(model.fit, shuffle=False, callbacks=[..., checkpoint])
    if batch:  # the rest of the epoch
        fit(data, steps_per_epoch=steps - batch, initial_epoch=epoch, epochs=epoch + 1)
        epoch, data = epoch + 1, batches(pairs, tokenizer, seed=1, first_epoch=epoch + 1)
    fit(data, steps_per_epoch=steps, initial_epoch=epoch, epochs=epochs)
    ```

    List it after callbacks that write files, so that the files of an epoch exist when its
    checkpoint exists.

    Args:
        directory: Folder of the files.
        every: Number of batches between two checkpoints, or None for checkpoints only at the end of
            epochs.
        keep: Number of latest epochs whose checkpoints are also kept, for `average`.
        clock: Clock of the training run, whose time is also saved.
        processes: The processes that train the model. The first one reads and writes the files.

    Attributes:
        is_last_batch: Whether the latest batch was the last batch of its epoch.

    Raises:
        ValueError: If `every` is below 1, or `keep` is below 0.
    """

    def __init__(
        self,
        directory: str | os.PathLike,
        *,
        every: int | None = None,
        keep: int = 0,
        clock: TrainingClock | None = None,
        processes: Processes | None = None,
    ) -> None:
        super().__init__()
        if every is not None:
            check_size("every", every)
        check_size("keep", keep, least=0)
        self.directory = Path(directory)
        self.every = every
        self.keep = keep
        self.clock = clock
        self.processes = processes or Processes()
        self.is_last_batch = False
        self._metrics: list[np.ndarray] = []
        self._first_batch = 0

    @property
    def progress(self) -> Progress:
        """Progress at the latest checkpoint, or epoch 0 and batch 0 if there is none."""
        return max(self._files(), default=Progress())

    def restore(self, model: keras.Model) -> Progress:
        """Restore a compiled model from the latest checkpoint, if there is one.

        If the latest checkpoint is damaged, the previous one is used, with a warning, and the
        damaged file gets the suffix ".damaged". The metrics are restored when the epoch begins,
        after Keras has reset them.

        Args:
            model: Model with the same shapes, compiled with the same kind of optimizer.

        Returns:
            The progress from which training continues.

        Raises:
            ValueError: If the checkpoint belongs to another model or optimizer, or no checkpoint
                can be read.
        """
        progress, arrays = self.processes.share(self._latest)
        if arrays:
            if not model.optimizer.built:  # building it again would add variables
                model.optimizer.build(model.trainable_variables)
            state = _state(model)
            shapes = [variable.shape for variable in state]
            if [array.shape for array in arrays[: len(state)]] != shapes:
                raise ValueError(
                    "Expected a checkpoint of this model and its optimizer. Received: "
                    f"{self.directory / _name(progress)}, whose weights have other shapes. Resume "
                    "with the recipe of the run."
                )
            for variable, array in zip(state, arrays, strict=False):
                variable.assign(array)
            for later, damaged in self._files().items():
                if later > progress:  # the later checkpoints are damaged
                    damaged.rename(damaged.with_suffix(".damaged"))
            *self._metrics, clock = arrays[len(state) :]
            self._first_batch = progress.batch
            if self.clock:
                self.clock.set(*map(float, clock))
        return progress

    def begin(self, model: keras.Model) -> Progress:
        """Write the checkpoint of a model that is not trained yet, and return its progress."""
        self.set_model(model)
        self._write(Progress())
        return Progress()

    def _latest(self) -> tuple[Progress, list[np.ndarray]]:
        """Return the progress and the arrays of the latest checkpoint that can be read."""
        problem = None
        for progress, path in sorted(self._files().items(), reverse=True):
            try:
                arrays = _read(path)
            except ValueError as error:
                problem = problem or error
                continue
            if problem:
                warnings.warn(f"{problem}; training resumes from {path.name}", stacklevel=3)
            return progress, arrays
        if problem:
            raise ValueError(f"{problem}, and so are all older ones; start again in another folder")
        return Progress(), []

    def average(self, model: keras.Model) -> int:
        """Replace the weights of a model by their mean over the latest epochs that are kept.

        Source: Junczys-Dowmunt, Dwojak and Sennrich (2016), "The AMU-UEDIN submission to the WMT16
        news translation task", section 4.1, checkpoint averaging.

        Args:
            model: Model of the training.

        Returns:
            The number of epochs. If there are fewer than two, the weights do not change.
        """
        weights = model.trainable_variables
        indices = [[w is v for v in _state(model)].index(True) for w in weights]
        epochs, means = self.processes.share(lambda: self._means(indices))
        for weight, mean in zip(weights, means, strict=False):
            weight.assign(mean)
        return epochs

    def _means(self, indices: list[int]) -> tuple[int, list[np.ndarray]]:
        """Return the number of epochs that are kept, and the means of these arrays over them.

        There are no means if there are fewer than two epochs.
        """
        epochs = self._kept_epochs()
        if len(epochs) < 2:
            return len(epochs), []
        means = [np.zeros(())] * len(indices)
        for progress in epochs:
            arrays = _read(self._files()[progress])
            means = [
                mean + arrays[index].astype("float64") / len(epochs)
                for mean, index in zip(means, indices, strict=True)
            ]
        return len(epochs), means

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        """Restore the metrics of an epoch that was interrupted."""
        self._epoch, self._before, self._first_batch = epoch, self._first_batch, 0
        self._done = self._before
        self.is_last_batch = False
        if self._before:
            variables = _metrics(self.model)
            if len(variables) != len(self._metrics):
                warnings.warn(
                    f"the metrics of epoch {epoch + 1} do not count its first {self._before:,} "
                    "batches, because Keras creates the metrics of compile at the first batch",
                    stacklevel=2,
                )
                return
            for variable, array in zip(variables, self._metrics, strict=True):
                variable.assign(array)

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        """Write a checkpoint if one is due, but not after the last batch of the epoch."""
        before, self._done = self._done, self._before + batch + 1  # see `steps_per_execution`
        self.is_last_batch = batch + 1 == self.params["steps"]
        if self.every and self._done // self.every > before // self.every:
            self.save()

    def save(self) -> None:
        """Write a checkpoint now, but not after the last batch, when `on_epoch_end` writes one."""
        if not self.is_last_batch:
            self._write(Progress(self._epoch, self._done))

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Write the checkpoint of the epoch."""
        self._write(Progress(epoch + 1))

    def _write(self, progress: Progress) -> None:
        """Write a checkpoint, and delete those that it replaces."""
        if not self.processes.is_first:
            return
        bring_up_to_date(self.model)
        arrays = [_array(variable) for variable in _state(self.model) + _metrics(self.model)]
        clock = (self.clock.seconds, self.clock.cpu_seconds) if self.clock else (0.0, 0.0)
        with atomic_write(self.directory / _name(progress)) as path:
            np.savez(path, *arrays, np.array(clock))
        kept = {progress, *sorted(self._files())[-2:], *self._kept_epochs()}
        for other, path in self._files().items():
            if other not in kept:
                path.unlink()

    def _kept_epochs(self) -> list[Progress]:
        epochs = sorted(one for one in self._files() if one.epoch and not one.batch)
        return epochs[max(len(epochs) - self.keep, 0) :]

    def _files(self) -> dict[Progress, Path]:
        """Return the files of the checkpoints, by progress."""
        names = {
            path: re.fullmatch(r"epoch_(\d+)_batch_(\d+)\.npz", path.name)
            for path in self.directory.glob("epoch_*")
        }
        return {Progress(int(m[1]), int(m[2])): path for path, m in names.items() if m}


def _name(progress: Progress) -> str:
    return f"epoch_{progress.epoch:04d}_batch_{progress.batch:08d}.npz"


def _state(model: keras.Model) -> list[Any]:
    """Return the variables that training changes: weights, random generators and optimizer."""
    return [*model.variables, *model.optimizer.variables]


def _metrics(model: keras.Model) -> list[Any]:
    return [variable for metric in model.metrics for variable in metric.variables]


def _array(variable: Any) -> np.ndarray:
    array = keras.ops.convert_to_numpy(variable)
    # Files of NumPy cannot contain bfloat16.
    return array.astype("float32") if array.dtype.name == "bfloat16" else array


def _read(path: Path) -> list[np.ndarray]:
    try:
        with np.load(path) as file:
            return [file[f"arr_{number}"] for number in range(len(file.files))]
    except Exception as error:  # a damaged file can raise any error
        raise ValueError(f"the checkpoint {path} is damaged ({error})") from error

"""The files of a training run."""

import fcntl
import json
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kerasnmt.atomic_write import atomic_write
from kerasnmt.preset_folders import is_preset_folder


class RunFolder:
    """The paths in the folder of a training run.

    Args:
        path: The folder, which need not exist.

    Attributes:
        path: The folder.
        recipe: `recipe.yaml`, the recipe with all defaults and overrides.
        tokenizers: `tokenizer.json`, a `shared` tokenizer, or a `source` and a `target`.
        data: `data.json`, the size and the hash of each file of the recipe's data.
        checkpoints: Folder of the checkpoints, which `--resume` needs.
        history: `history.jsonl`, one object an epoch.
        model: `model.keras`, the best model by `training.monitor`.
        logs: Folder for TensorBoard.
        results: `results.json`, which exists when the training is done.
        lock: `.lock`, which exists during a training, with the id of its process.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.recipe = self.path / "recipe.yaml"
        self.tokenizers = self.path / "tokenizer.json"
        self.data = self.path / "data.json"
        self.checkpoints = self.path / "checkpoints"
        self.history = self.path / "history.jsonl"
        self.model = self.path / "model.keras"
        self.logs = self.path / "logs"
        self.results = self.path / "results.json"
        self.lock = self.path / ".lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other trainings out of the folder.

        The operating system releases the lock when the process ends, so a killed training leaves
        none behind.

        Raises:
            ValueError: Another training has the lock.
        """
        is_new = not self.path.exists()
        descriptor = self._take_lock()
        try:
            os.truncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
            yield
        finally:
            self.lock.unlink(missing_ok=True)
            os.close(descriptor)
            if is_new:
                with suppress(OSError):  # the folder is not empty
                    self.path.rmdir()

    def _take_lock(self) -> int:
        while True:
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o666)
            except FileNotFoundError:  # a training that ended has deleted the empty folder
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                process = os.read(descriptor, 20).decode().strip() or "of another training"
                os.close(descriptor)
                raise ValueError(
                    f"Expected a folder that no other training uses. Received: {self.path}, in use "
                    f"by the process {process}. Choose another folder, or wait until it ends."
                ) from None
            except OSError:
                warnings.warn(
                    f"{self.path}: the file system has no locks; use the folder for one training "
                    "at a time",
                    stacklevel=4,
                )
                return descriptor
            # The training that had the lock before may have deleted the file in between.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(self.lock)):
                    return descriptor
            os.close(descriptor)

    def check_unused(self) -> None:
        """Check that a new run may begin here.

        Raises:
            ValueError: The folder holds a run or a preset.
        """
        if is_preset_folder(self.path):
            raise ValueError(
                f"Expected an output folder of its own. Received: {self.path}, a preset, whose "
                "files a run would replace. Choose another folder."
            )
        for path in (self.recipe, self.model):
            if path.exists():
                raise ValueError(
                    f"Expected an output folder without a run. Received: {self.path}, which has a "
                    f"{path.name}. Choose another folder, or resume this run."
                )

    def check_resumable(self) -> None:
        """Check that there is a run to resume.

        Raises:
            ValueError: There is none.
        """
        for path in (self.recipe, self.tokenizers):
            if not path.exists():
                raise ValueError(
                    f"Expected the folder of a run to resume. Received: {self.path}, which has no "
                    f"{path.name}. Begin one without resume."
                )

    def check_trained(self) -> None:
        """Check that there is a trained model with its recipe.

        Raises:
            ValueError: There is none.
        """
        for path in (self.model, self.recipe, self.tokenizers):
            if not path.exists():
                raise ValueError(
                    f"Expected the folder of a run with a trained model. Received: {self.path}, "
                    f"which has no {path.name}."
                )

    def final_results(self, epochs: int) -> dict[str, Any] | None:
        """Return the results of a training that is done.

        Args:
            epochs: Number of epochs that the training should have.

        Returns:
            The results, as in `results.json`; None where something is left to train.

        Raises:
            ValueError: The file is damaged.
        """
        if not self.results.exists():
            return None
        results = self.read_json(self.results)
        done = results["early_stopping"] or results["epochs"] >= epochs
        return results if done else None

    @staticmethod
    def write_text(path: Path, text: str) -> None:
        """Write a file of the run, whole or not at all."""
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @staticmethod
    def read_json(path: Path) -> Any:
        """Read a file of JSON.

        Raises:
            ValueError: The file is not JSON; the error names it.
        """
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: the file is damaged: {error}") from error

    @staticmethod
    def write_json(path: Path, value: Any) -> None:
        """Write a file of JSON. A number that is not finite becomes null."""
        text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
        RunFolder.write_text(path, text + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""Files of a training run."""

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
from kerasnmt.presets.folders import is_preset_folder


class RunFolder:
    """Paths in the folder of a training run.

    Args:
        path: Path of the folder, which may not exist yet.

    Attributes:
        path: Path of the folder.
        recipe: `recipe.yaml`, the recipe with all defaults and overrides.
        tokenizers: `tokenizer.json`, the tokenizers `shared`, or `source` and `target`.
        data: `data.json`, the size and the hash of each file of the recipe's data.
        epoch: `epoch.json`, the numbers of pairs and batches of an epoch of training.
        checkpoints: Folder of the checkpoints, for `--resume`.
        history: `history.jsonl`, with one object for each epoch.
        model: `model.keras`, the best model with respect to `training.monitor`.
        logs: Log folder of TensorBoard.
        results: `results.json`, which exists when training is done.
        translations: Folder of the translations of test data, which `kerasnmt compare` keeps.
        lock: `.lock`, which exists during training, and contains the id of the process.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.recipe = self.path / "recipe.yaml"
        self.tokenizers = self.path / "tokenizer.json"
        self.data = self.path / "data.json"
        self.epoch = self.path / "epoch.json"
        self.checkpoints = self.path / "checkpoints"
        self.history = self.path / "history.jsonl"
        self.model = self.path / "model.keras"
        self.logs = self.path / "logs"
        self.results = self.path / "results.json"
        self.translations = self.path / "translations"
        self.lock = self.path / ".lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for other training processes.

        The operating system releases the lock when the process ends, even if the process is killed.

        Raises:
            ValueError: If another process has the lock.
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
            except FileNotFoundError:  # another process has ended and deleted the empty folder
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                process = os.read(descriptor, 20).decode().strip() or "of another run"
                os.close(descriptor)
                raise ValueError(
                    "Expected a folder in which no other process trains. Received: "
                    f"{self.path}, in use by the process {process}. Choose another folder, or wait "
                    "until it ends."
                ) from None
            except OSError:
                warnings.warn(
                    f"{self.path}: the file system has no locks; use the folder for one process "
                    "at a time",
                    stacklevel=4,
                )
                return descriptor
            # The process that had the lock before may have deleted the file in the meantime.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(self.lock)):
                    return descriptor
            os.close(descriptor)

    def check_unused(self) -> None:
        """Check that a new run may start in the folder.

        Raises:
            ValueError: If the folder contains a run or a preset.
        """
        if is_preset_folder(self.path):
            raise ValueError(
                f"Expected an output folder without a preset. Received: {self.path}, a preset, "
                "whose files a run would replace. Choose another folder."
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
            ValueError: If there is none.
        """
        for path in (self.recipe, self.tokenizers):
            if not path.exists():
                raise ValueError(
                    f"Expected the folder of a run to resume. Received: {self.path}, which has no "
                    f"{path.name}. Start a run without resume."
                )

    def check_trained(self) -> None:
        """Check that there is a trained model with its recipe.

        Raises:
            ValueError: If there is none.
        """
        for path in (self.model, self.recipe, self.tokenizers):
            if not path.exists():
                raise ValueError(
                    f"Expected the folder of a run with a trained model. Received: {self.path}, "
                    f"which has no {path.name}."
                )

    def final_results(self, epochs: int) -> dict[str, Any] | None:
        """Return the results of a run that is done.

        Args:
            epochs: Number of epochs that the run should have.

        Returns:
            The content of `results.json`, or None if there is something left to train.

        Raises:
            ValueError: If the file is damaged.
        """
        if not self.results.exists():
            return None
        results = self.read_json(self.results)
        done = results["early_stopping"] or results["epochs"] >= epochs
        return results if done else None

    @staticmethod
    def write_text(path: Path, text: str) -> None:
        """Write a file of the run, completely or not at all."""
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @staticmethod
    def read_json(path: Path) -> Any:
        """Read a file of JSON.

        Raises:
            ValueError: If the file is not JSON. The error names the file.
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

"""Files of a training run."""

import json
import math
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kerasnmt.atomic_write import atomic_write
from kerasnmt.folder_lock import LOCK, locked_folder
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
        self.lock = self.path / LOCK

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder for other training processes; see `locked_folder`."""
        return locked_folder(self.path, "trains")

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
        written = (self.recipe, self.model, self.checkpoints, self.history, self.results)
        for path in written:
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
        self._need("to resume", self.recipe, self.tokenizers, todo=" Start a run without resume.")

    def check_trained(self) -> None:
        """Check that there is a trained model with its recipe.

        Raises:
            ValueError: If there is none.
        """
        self._need("with a trained model", self.model, self.recipe, self.tokenizers)

    def _need(self, what: str, *paths: Path, todo: str = "") -> None:
        for path in paths:
            if not path.exists():
                raise ValueError(
                    f"Expected the folder of a run {what}. Received: {self.path}, which has no "
                    f"{path.name}.{todo}"
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
        results = self.read_json(self.results, epochs=int, early_stopping=bool)
        done = results["early_stopping"] or results["epochs"] >= epochs
        return results if done else None

    @staticmethod
    def write_text(path: Path, text: str) -> None:
        """Write a file of the run, completely or not at all."""
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @staticmethod
    def read_json(path: Path, **types: type) -> dict[str, Any]:
        """Read a file with an object of JSON.

        Args:
            path: Path of the file.
            **types: Types of some of its values, by their keys.

        Raises:
            ValueError: If the file has no such object. The error names the file.
        """
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(document, dict):
                raise ValueError(f"expected an object. Received: {document!r:.40}")
            for key, kind in types.items():
                if type(document.get(key)) is not kind:
                    raise ValueError(f"expected {key} of type {kind.__name__}")
        except ValueError as error:
            raise ValueError(f"{path}: the file is damaged: {error}") from error
        return document

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

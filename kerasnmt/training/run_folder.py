"""What a training leaves on disk, and where."""

import os
from pathlib import Path

from kerasnmt.atomic_write import atomic_write


class RunFolder:
    """The places in the folder of a training run.

    Args:
        path: the folder, which need not exist.

    Attributes:
        path: the folder.
        recipe: `recipe.yaml`, the recipe with all defaults and overrides.
        tokenizers: `tokenizer.json`, a `shared` tokenizer, or a `source` and a `target`.
        checkpoints: folder of what `--resume` needs.
        history: `history.jsonl`, one object an epoch.
        model: `model.keras`, the best model by validation BLEU.
        logs: folder for TensorBoard.
        results: `results.json`, there when the training is done.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.recipe = self.path / "recipe.yaml"
        self.tokenizers = self.path / "tokenizer.json"
        self.checkpoints = self.path / "checkpoints"
        self.history = self.path / "history.jsonl"
        self.model = self.path / "model.keras"
        self.logs = self.path / "logs"
        self.results = self.path / "results.json"

    def check_unused(self) -> None:
        """Makes sure that a new run may begin here.

        Raises:
            ValueError: the folder holds a run.
        """
        for path in (self.recipe, self.model):
            if path.exists():
                raise ValueError(
                    f"Expected an output folder without a run. Received: {self.path}, which has a "
                    f"{path.name}. Choose another folder, or resume this run."
                )

    def check_resumable(self) -> None:
        """Makes sure that there is a run to continue.

        Raises:
            ValueError: there is none.
        """
        if not (self.recipe.exists() and self.tokenizers.exists()):
            raise ValueError(
                f"Expected the folder of a run to resume. Received: {self.path}, which has none. "
                "Begin one without resume."
            )

    def check_trained(self) -> None:
        """Makes sure that there is a trained model with its recipe.

        Raises:
            ValueError: there is none.
        """
        for path in (self.model, self.recipe, self.tokenizers):
            if not path.exists():
                raise ValueError(
                    f"Expected the folder of a run with a trained model. Received: {self.path}, "
                    f"which has no {path.name}."
                )

    @staticmethod
    def write_text(path: Path, text: str) -> None:
        """Writes a file of the run, whole or not at all."""
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

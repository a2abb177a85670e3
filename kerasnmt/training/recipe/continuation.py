"""Recipe that trains a model further."""

import os
import shlex
from typing import Any, NamedTuple

from kerasnmt.models import Seq2Seq
from kerasnmt.presets import Preset
from kerasnmt.training.checks import check_start
from kerasnmt.training.recipe.proposal import ChosenTokenizer, Proposal
from kerasnmt.training.recipe.schema import Recipe
from kerasnmt.training.run_folder import RunFolder
from kerasnmt.training.tokenizers import tokenizers_of
from kerasnmt.zoo import get_model, get_preset

_UPDATES, _FEWEST_EPOCHS, _MOST_EPOCHS = 500, 2, 20
_LEARNING_RATE = 0.0002
_FEWEST_FOR_SCORES = 1_000


class Origin(NamedTuple):
    """Parts of a recipe that a trained model fixes.

    Attributes:
        path: The run or the preset.
        model: Name of the model in the zoo.
        keywords: Keywords of its constructor.
        tokenizers: Keys of the recipe for each tokenizer: `shared`, or `source` and `target`.
        search: Search options.
    """

    path: str
    model: str
    keywords: dict[str, Any]
    tokenizers: dict[str, dict[str, Any]]
    search: dict[str, Any]


def origin_of(path: str | os.PathLike) -> Origin:
    """Return the parts of a recipe that the model of a run or of a preset fixes.

    Raises:
        ValueError: If there is neither, a file of the run is missing or damaged, the model is not a
            `Seq2Seq` of the zoo, or the preset does not say how its model was made.
    """
    run = RunFolder(path)
    if run.model.exists():
        run.check_trained()
        recipe = Recipe.load(run.recipe)
        tokenizers = recipe.tokenizer.model_dump(exclude_defaults=True)
        model = recipe.model
        return Origin(str(path), model.name, model.keywords, tokenizers, recipe.search.options)
    check_start(path)
    preset = get_preset(path)
    if "model" not in preset.about:
        raise ValueError(
            f"Expected a preset with the keywords of {preset.model_name}, which a recipe needs, in "
            f"about.model of its metadata.json. Received: {path}, without them. Train it in "
            "Python, with from_preset and model.fit, or start from its run."
        )
    get_model(preset.model_name, Seq2Seq)  # refuses models without recipes
    keywords = preset.about["model"]
    return Origin(str(path), preset.model_name, keywords, _tokenizers(preset), preset.search)


def _tokenizers(preset: Preset) -> dict[str, dict[str, Any]]:
    """Return the keys of a recipe for each tokenizer of a preset."""
    return {
        side: {"kind": one.kind}
        | ({"vocabulary_size": one.vocabulary_size} if one.kind == "sentencepiece" else {})
        | ({"tags": True} if one.tags else {})
        for side, one in tokenizers_of(preset.load(load_weights=False)).items()
    }


class Continuation(Proposal):
    """Values of a recipe that trains a model further.

    The training is short, with a low learning rate, so that the model forgets little.

    Args:
        origin: Parts of the recipe that the model fixes.
        **options: Arguments of `Proposal`, without the model.
    """

    about_updates = "A trained model needs a few hundred, or two passes over much data."

    def __init__(self, origin: Origin, **options: Any) -> None:
        super().__init__(origin.model, copies=False, **options)
        self._origin = origin
        self.start = f"--init-from {shlex.quote(origin.path)} "
        self.about_training = (
            f"Train it with `kerasnmt train {self.start.strip()}`; without this option, the model "
            "starts from random weights and learns next to nothing."
        )

    @property
    def tokenizers(self) -> dict[str, ChosenTokenizer]:
        """Kinds of the tokenizers of the model."""
        return {
            side: ChosenTokenizer(options["kind"])
            for side, options in self._origin.tokenizers.items()
        }

    @property
    def epochs(self) -> int:
        """Number of epochs that give a few hundred updates, at least two."""
        epochs = round(_UPDATES / self.updates_per_epoch)
        return min(max(epochs, _FEWEST_EPOCHS), _MOST_EPOCHS)

    @property
    def learning_rate(self) -> float:
        """Maximum learning rate of the schedule."""
        return _LEARNING_RATE

    @property
    def monitor(self) -> str:
        """Score of the best model. With few pairs, other scores than the loss tie."""
        return super().monitor if self.pairs >= _FEWEST_FOR_SCORES else "loss"

    @property
    def sizes(self) -> dict[str, Any]:
        """Keywords of the model."""
        return self._origin.keywords

    def _model(self) -> list[tuple[str, dict[str, Any]]]:
        comment = "The trained model. Its sizes must stay; `--init-from` adds its weights."
        return [(comment, {"name": self.model, **self.sizes})]

    def _tokenizer_section(self) -> list[tuple[str, dict[str, Any]]]:
        comment = "The tokenizers of the trained model, with their vocabularies."
        return [(comment, self._origin.tokenizers)]

    def _search(self) -> list[tuple[str, dict[str, Any]]]:
        search = self._origin.search
        return [("Search options of the trained model.", search)] if search else []

"""Checks of a recipe against its model and data, before training writes anything."""

import inspect
import json
import os
import re
import warnings
from collections.abc import Iterator
from types import NoneType
from typing import Any, get_args

import keras

from kerasnmt import zoo
from kerasnmt.models import Seq2Seq
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.presets.folders import preset_folder, preset_hint
from kerasnmt.training.corpora import Corpora
from kerasnmt.training.dotted import dotted
from kerasnmt.training.processes import Processes
from kerasnmt.training.recipe import Recipe
from kerasnmt.training.run_folder import RunFolder

# Maximum size, and maximum number of layers. Larger numbers are mistakes that exhaust the memory.
_LARGEST = 100_000


def check_model(name: str, keywords: dict[str, Any]) -> None:
    """Check the model of a recipe.

    Args:
        name: Name of the model in the zoo.
        keywords: Keywords of its constructor.

    Raises:
        ValueError: If the zoo has no such model that translates, the model has no such keyword, or
            a value has another type or is too large.
    """
    parameters = inspect.signature(zoo.get_model(name, Seq2Seq)).parameters
    known = {key: p for key, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    for key, value in keywords.items():
        if key not in known:
            names = [f"model.{name}" for name in known]
            raise ValueError(unknown_name_message(f"model.{key}", names, "key"))
        annotation = known[key].annotation
        kinds = get_args(annotation) or (annotation,)
        if type(value) not in kinds and not (float in kinds and type(value) is int):
            expected = " or ".join("null" if k is NoneType else k.__name__ for k in kinds)
            default = json.dumps(known[key].default)
            raise ValueError(
                f"Expected model.{key} to be of type {expected}; its default is {default}. "
                f"Received: model.{key}={value!r}"
            )
        if type(value) is int and abs(value) > _LARGEST:
            raise ValueError(
                f"Expected model.{key} to be at most {_LARGEST}. Received: model.{key}={value}"
            )


def check_batch_size(recipe: Recipe, processes: Processes) -> None:
    """Check that processes that read their own shards can have equal parts of a batch.

    Raises:
        ValueError: If `training.batch_size` is not a multiple of the number of processes.
    """
    size = recipe.training.batch_size
    if recipe.data.train.streams and size is not None and size % processes.count:
        raise ValueError(
            "Expected training.batch_size to be a multiple of the number of processes. "
            f"Received: training.batch_size={size}, and {processes.count} processes."
        )


def check_abilities(recipe: Recipe, model: Seq2Seq) -> None:
    """Check that the model can do what the recipe demands.

    Raises:
        ValueError: If contexts are missing or not used, if there is guided attention but no
            attention, or if a search option is not valid for the model.
    """
    for split, section in recipe.data.splits.items():
        if (section.context is not None) != model.reads_context:
            raise ValueError(
                f"data.{split}.context: expected a file for a model that reads contexts, and no "
                f"file for another model. Received: model.name={recipe.model.name}"
            )
    if recipe.training.guided_attention is not None and not model.has_attention:
        raise ValueError(
            "training.guided_attention: expected a model with attention. "
            f"Received: model.name={recipe.model.name}"
        )
    try:
        none: list[str] | None = [] if model.reads_context else None
        model.translate([], contexts=none, **recipe.search.options)
    except ValueError as error:
        raise ValueError(f"search: {error}") from error


def check_same_recipe(run: RunFolder, recipe: Recipe) -> None:
    """Check that a run is resumed with its recipe, where only the number of epochs may differ.

    A recipe without a tokenizer for BLEU, or without a loss, has the one that the run chose.

    Raises:
        ValueError: If another value has changed. The error names the first one.
    """
    old, new = (dotted(part.model_dump(mode="json")) for part in (Recipe.load(run.recipe), recipe))
    for chosen in ("training.bleu_tokenizer", "training.loss"):
        new[chosen] = new[chosen] or old[chosen]
    for key in old | new:
        if old.get(key) != new.get(key) and key != "training.epochs":
            raise ValueError(
                f"Expected the recipe of the run to resume, in {run.recipe}, where {key} is "
                f"{old.get(key)!r}; only training.epochs may differ. "
                f"Received: {key}={new.get(key)!r}. Repeat the changes of the first command."
            )


def check_same_files(run: RunFolder, corpora: Corpora) -> None:
    """Check that a run is resumed with its data.

    Raises:
        ValueError: If a file has changed.
    """
    if not run.data.exists():
        warnings.warn(f"{run.path} has no {run.data.name}: the data is not checked", stacklevel=2)
        return
    stored = run.read_json(run.data, **dict.fromkeys(corpora.fingerprints, dict))
    for key, now in corpora.fingerprints.items():
        before = {"bytes": 0, "sha256": "", **stored[key]}
        if now != before:
            old, new = (
                f"{file['bytes']:,} bytes with the SHA-256 {file['sha256'][:12]}…"
                for file in (before, now)
            )
            raise ValueError(
                f"Expected unchanged data to resume the run: {key} had {old}. "
                f"Received: {corpora.data.files[key]}, with {new}. Restore the file, or start "
                "another run."
            )


def check_start(path: str | os.PathLike) -> None:
    """Check that a path to start from, which is not a run, is a preset.

    Raises:
        ValueError: If it is not a preset. The error suggests a name if one is similar.
    """
    if "://" not in os.fspath(path) and preset_folder(path) is None:
        raise ValueError(
            f"Expected the folder of a run, or a preset, to start from. Received: {path}, which "
            f"is neither.{preset_hint(os.fspath(path))}"
        )


def check_equal(start: str, what: str, old: Any, new: Any) -> None:
    """Raise a `ValueError` if a value of the recipe differs from the model to start from."""
    if old != new:
        raise ValueError(
            f"Expected the {what} of the {start}: {old}. Received: {new}. Change the recipe, or "
            "start without init_from."
        )


def check_same_model(trained: Any, recipe: Recipe, model: Seq2Seq) -> None:
    """Check that the model of a recipe can have the weights of the `Trained` to start from.

    Raises:
        ValueError: If it differs. The error names the first keyword, or else the first value.
    """
    before, after = trained.config, comparable_config(model)
    if trained.keywords is not None and before != after:
        parameters = inspect.signature(zoo.get_model(recipe.model.name)).parameters
        known = {key: parameter.default for key, parameter in parameters.items()}
        old, new = known | trained.keywords, known | recipe.model.keywords
        for key in new:
            if not _MAY_DIFFER.search(key):
                check_equal(trained.name, f"model.{key}", old[key], new[key])
    for key in before | after:
        check_equal(trained.name, f"value of {key}", before.get(key), after.get(key))


def comparable_config(model: Seq2Seq) -> dict[str, Any]:
    """Return the values of a model's config that a model with its weights must have.

    Dropout rates, dtypes, seeds, initializers and frozen layers may differ, because they do not
    change what the weights compute. The normalizer of the output depends on the loss. Search
    options, calibration and shortlist belong to the run.
    """
    return dict(_values(keras.saving.serialize_keras_object(model)))


_MAY_DIFFER = re.compile(
    r"dropout|dtype|seed|trainable|initializer|tokenizer|build_config|compile_config"
    r"|generator\.config\.normalizer|^config\.(search_options|calibration|shortlist)"
)


def _values(config: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values of a nested config, without those that may differ."""
    if _MAY_DIFFER.search(key):
        return
    if isinstance(config, dict | list | tuple):
        parts = config.items() if isinstance(config, dict) else enumerate(config)
        for name, part in parts:
            yield from _values(part, f"{key}.{name}".lstrip("."))
    else:
        yield key, config

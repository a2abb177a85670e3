"""Presets: folders with a trained model, for others to load."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

from kerasnmt import hooks
from kerasnmt.atomic_write import atomic_folder
from kerasnmt.models.in_float32 import in_float32
from kerasnmt.models.preset_card import preset_card
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.small_weights import as_float16, as_int8, is_matrix
from kerasnmt.version import __version__

FORMAT = 1
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.weights.h5"
METADATA, CARD = "metadata.json", "README.md"

# What a preset says of itself: the type of each key.
_ABOUT = {
    "task": str,
    "description": str,
    "languages": list,
    "license": str,
    "attribution": str,
    "score": str,
    "evaluation": str,
    "search": dict,
    "examples": list,
}


class Preset:
    """A folder with a trained model.

    - `config.json`: The model without its tokenizers, as Keras writes it.
    - `tokenizer.json`: The tokenizers with their vocabularies: `shared`, or `source` and `target`.
    - `model.weights.h5`: The weights.
    - `metadata.json`: Versions, sizes, a SHA-256 of each of the files above, and what the preset
      says of itself.
    - `README.md`: A card, with the front matter that model hubs read.

    Args:
        folder: The folder.

    Attributes:
        folder: The folder.
        metadata: The content of `metadata.json`.

    Raises:
        ValueError: If the folder is no preset, or one of a newer format.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)
        self.metadata = self._read_metadata()

    @staticmethod
    def is_at(folder: str | os.PathLike) -> bool:
        """Return whether a folder looks like a preset."""
        return all((Path(folder) / name).exists() for name in (CONFIG, METADATA))

    @property
    def model(self) -> str:
        """The model's name in the zoo."""
        return self.metadata["model"]

    @property
    def task(self) -> str:
        """What the model does, such as "translation"."""
        return self.about.get("task", self.metadata["pipeline_tag"])

    @property
    def about(self) -> dict[str, Any]:
        """What the preset says of itself; see `save_preset`."""
        return self.metadata["about"]

    @property
    def search(self) -> dict[str, Any]:
        """The search options of the preset's scores, for `model.translate`."""
        return dict(self.about.get("search", {}))

    @property
    def bytes(self) -> int:
        """The size of the model's files together."""
        return sum(file["bytes"] for file in self.metadata["files"].values())

    def load(self, load_weights: bool = True) -> keras.Model:
        """Make the model.

        The files are verified first. No code comes from them: a config can name only classes of
        Keras, and those that are registered with Keras.

        Args:
            load_weights: Whether the model gets the trained weights; otherwise they are random.

        Returns:
            The model, not compiled, in float32.

        Raises:
            ValueError: If a file is missing, damaged, or belongs to another preset.
        """
        names = [CONFIG, TOKENIZER, *([WEIGHTS] if load_weights else [])]
        for name in names:
            self._verify(name)
        hooks.register_tokenizers()
        try:
            config, tokenizers = (json.loads(self._read(name)) for name in (CONFIG, TOKENIZER))
            for side, tokenizer in tokenizers.items():
                argument = "source" if side == "shared" else side
                config["config"][f"{argument}_tokenizer"] = tokenizer
            config["compile_config"] = None
            model = keras.saving.deserialize_keras_object(config)
            if load_weights:
                self._load_weights(model)
        except Exception as error:  # the files are whole, so another version wrote them
            reason = " ".join(str(error).split())
            raise ValueError(
                f"{self.folder}: the preset cannot be loaded by kerasnmt {__version__}; it was "
                f"written by {self.metadata['kerasnmt_version']}: "
                f"{type(error).__name__}: {reason:.300}"
            ) from error
        return model

    def _load_weights(self, model: keras.Model) -> None:
        if self.metadata["weights"] != "int8":
            model.load_weights(self.folder / WEIGHTS)
            return
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder, WEIGHTS)
            with h5py.File(self.folder / WEIGHTS) as stored, h5py.File(whole, "w") as file:
                _copy(stored, file, _from_int8)
            model.load_weights(whole)

    def _read_metadata(self) -> dict[str, Any]:
        if not (self.folder / METADATA).exists():
            raise ValueError(
                f"Expected the folder of a preset, with a {METADATA}. Received: {self.folder}"
            )
        try:
            metadata = json.loads(self._read(METADATA))
            newer = metadata["format"] > FORMAT
            known = newer or (
                isinstance(metadata["model"], str)
                and isinstance(metadata["pipeline_tag"], str)
                and metadata["weights"] in _FORMATS
                and isinstance(metadata["kerasnmt_version"], str)
                and metadata["files"].keys() == {CONFIG, TOKENIZER, WEIGHTS}
                and all(
                    isinstance(file["sha256"], str) and isinstance(file["bytes"], int)
                    for file in metadata["files"].values()
                )
                and _has_types(metadata["about"])
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            newer = known = False
        if newer:
            raise ValueError(
                f"{self.folder}: expected a preset of format {FORMAT} or older. Received: format "
                f"{metadata['format']}. Install a newer kerasnmt; this is {__version__}."
            )
        if not known:
            raise ValueError(
                f"{self.folder / METADATA}: expected the description of a preset. Received: "
                "another or a damaged file. Copy the preset again."
            )
        return metadata

    def _read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def _verify(self, name: str) -> None:
        """Check a file's SHA-256."""
        path, expected = self.folder / name, self.metadata["files"][name]["sha256"]
        if not path.exists():
            raise ValueError(f"{path}: the file is missing. Copy the preset again.")
        if (received := _sha256(path)) != expected:
            raise ValueError(
                f"{path}: the file is damaged, or belongs to another preset: expected the SHA-256 "
                f"{expected:.12}…. Received: {received:.12}…. Copy the preset again."
            )


def save_preset(
    model: keras.Model,
    folder: str | os.PathLike,
    weights: str = "float16",
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write a preset, whole or not at all; see `TextModel.save_to_preset`."""
    if weights not in _FORMATS:
        raise ValueError(
            f"Expected weights to be one of {', '.join(_FORMATS)}. Received: weights={weights!r}"
        )
    about = _checked_about(about or {})
    model = in_float32(model)
    config = keras.saving.serialize_keras_object(model)
    config.pop("compile_config", None)
    tokenizers = {
        side: tokenizer
        for side in ("source", "target")
        if (tokenizer := config["config"].pop(f"{side}_tokenizer", None)) is not None
    }
    if tokenizers.keys() == {"source"}:
        tokenizers = {"shared": tokenizers["source"]}
    with atomic_folder(folder) as written:
        (written / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        (written / TOKENIZER).write_text(
            json.dumps(tokenizers, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        _write_weights(model, written / WEIGHTS, weights)
        metadata = {
            "format": FORMAT,
            "kerasnmt_version": __version__,
            "keras_version": keras.__version__,
            "model": model.name,
            "pipeline_tag": model.pipeline_tag,
            "parameters": model.count_params(),
            "weights": weights,
            "files": {
                name: {
                    "bytes": (written / name).stat().st_size,
                    "sha256": _sha256(written / name),
                }
                for name in (CONFIG, TOKENIZER, WEIGHTS)
            },
            "about": about,
        }
        text = json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
        (written / METADATA).write_text(text, encoding="utf-8")
        (written / CARD).write_text(preset_card(Path(folder).name, metadata), encoding="utf-8")
    return Path(folder)


def _checked_about(about: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in about.items():
        if key not in _ABOUT:
            known = [f"about.{name}" for name in _ABOUT]
            raise ValueError(unknown_name_message(f"about.{key}", known, "key"))
        if not isinstance(value, _ABOUT[key]):
            raise ValueError(
                f"Expected about.{key} to be of type {_ABOUT[key].__name__}. Received: "
                f"about.{key}={value!r}"
            )
    return dict(about)


def _has_types(about: dict[str, Any]) -> bool:
    """Return whether the known keys have their types; a later version may have more keys."""
    return all(isinstance(about[key], kind) for key, kind in _ABOUT.items() if key in about)


def _write_weights(model: keras.Model, path: Path, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, WEIGHTS)
        model.save_weights(whole)
        with h5py.File(whole) as file, h5py.File(path, "w") as stored:
            _copy(file, stored, _FORMATS[kind])


def _copy(
    source: h5py.Group, target: h5py.Group, write: Callable[[h5py.Group, str, Any], None]
) -> None:
    """Copy a group of weights; `write` writes each of them into its new group."""
    for name, value in source.attrs.items():
        target.attrs[name] = value
    for name, item in source.items():
        if isinstance(item, h5py.Group) and _INT8 not in item.attrs:
            _copy(item, target.create_group(name), write)
        else:
            write(target, name, item)


_INT8 = "int8"


def _as_float32(group: h5py.Group, name: str, weight: h5py.Dataset) -> None:
    group.create_dataset(name, data=weight[()])


def _to_float16(group: h5py.Group, name: str, weight: h5py.Dataset) -> None:
    values = weight[()]
    if _is_float(values):
        values = as_float16(values, weight.name, "Save with weights='float32'.")
    group.create_dataset(name, data=values)


def _to_int8(group: h5py.Group, name: str, weight: h5py.Dataset) -> None:
    """Write a matrix as a group of values and scales, which Keras does not take for weights."""
    values = weight[()]
    if not _is_float(values):
        group.create_dataset(name, data=values)
        return
    stored = group.create_group(name)
    stored.attrs[_INT8] = True
    for part, array in zip(("values", "scales"), as_int8(values), strict=True):
        stored.create_dataset(part, data=array)


def _from_int8(group: h5py.Group, name: str, weight: h5py.Dataset | h5py.Group) -> None:
    if isinstance(weight, h5py.Group):
        group.create_dataset(name, data=weight["values"][()].astype("float32") * weight["scales"])
    else:
        group.create_dataset(name, data=weight[()])


def _is_float(values: np.ndarray) -> bool:
    return is_matrix(values.shape) and np.issubdtype(values.dtype, np.floating)


_FORMATS = {"float32": _as_float32, "float16": _to_float16, "int8": _to_int8}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

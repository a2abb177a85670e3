"""Presets, which are folders with a trained model that others can load."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras

from kerasnmt.atomic_write import atomic_folder, atomic_write
from kerasnmt.checksum import sha256
from kerasnmt.config_parts import parts_of_config
from kerasnmt.decoding import SearchOptions, TranslationOptions
from kerasnmt.extras import MissingPackageError
from kerasnmt.kinds import kind_of
from kerasnmt.models.in_float32 import in_float32
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.presets.card import preset_card
from kerasnmt.presets.choosing import task_of_preset
from kerasnmt.presets.folders import CONFIG, METADATA
from kerasnmt.presets.metadata import ABOUT, FORMAT, TOKENIZER, WEIGHTS, is_of, read_metadata
from kerasnmt.presets.weights import FORMATS, read_weights, write_weights
from kerasnmt.shortlist import Shortlist
from kerasnmt.small_weights import check_weights
from kerasnmt.version import __version__

CARD = "README.md"


class Preset:
    """Folder with a trained model.

    It contains these files:

    - `config.json`: The config of the model in Keras, without its tokenizers.
    - `tokenizer.json`: The tokenizers with their vocabularies: `shared`, or `source` and `target`.
    - `model.weights.h5`: The weights.
    - `metadata.json`: Versions, sizes, a SHA-256 checksum of each of the files above, and the
      description of the preset.
    - `README.md`: A card, with the front matter that model hubs read.

    Args:
        folder: Path of the folder.

    Attributes:
        folder: Path of the folder.
        metadata: Content of `metadata.json`.

    Raises:
        ValueError: If the folder is not a preset, or has a newer format.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)
        self.metadata = read_metadata(self.folder)

    @property
    def model_name(self) -> str:
        """Name of the model in the zoo."""
        return self.metadata["model"]

    @property
    def task(self) -> str:
        """Task of the model, such as "translation"."""
        return task_of_preset(self.metadata)

    @property
    def about(self) -> dict[str, Any]:
        """Description of the preset; see `TextModel.save_to_preset`."""
        return self.metadata["about"]

    @property
    def search(self) -> dict[str, Any]:
        """Search options for `model.translate`, with which the preset's score was measured.

        Raises:
            ValueError: If an option is not valid.
        """
        return _checked_search(self.about, TranslationOptions, f"{self.folder / METADATA}: ")

    @property
    def low_score(self) -> float | None:
        """Score that hardly any text of the test data falls below, or None."""
        return self.about.get("low_score")

    @property
    def size(self) -> int:
        """Size of the model's files in bytes."""
        return sum(file["bytes"] for file in self.metadata["files"].values())

    def config(self) -> dict[str, Any]:
        """Return the config of the model in Keras, without its tokenizers.

        Raises:
            ValueError: If the file is missing or damaged.
        """
        self._verify(CONFIG)
        return self._read_json(CONFIG)

    def load(self, load_weights: bool = True) -> keras.Model:
        """Load the model.

        The checksums of the files are verified first. The files contain no code: the config can
        only name classes of Keras, and classes that are registered with Keras.

        Args:
            load_weights: Whether the model gets the trained weights. If False, the weights are
                random.

        Returns:
            The model in float32, not compiled.

        Raises:
            ValueError: If a file is missing, damaged, or belongs to another preset; or if a class
                in the config is not registered.
        """
        for name in (TOKENIZER, *([WEIGHTS] if load_weights else [])):
            self._verify(name)
        config, tokenizers, search = self.config(), self._read_json(TOKENIZER), self.search
        reads_text = not any(field.binary for field in kind_of(self.metadata["inputs"]).fields)
        forms = ({"shared"}, {"source", "target"}) if reads_text else ({"shared"}, {"target"})
        if tokenizers.keys() not in forms or None in tokenizers.values():
            raise ValueError(
                f"{self.folder / TOKENIZER}: expected the tokenizers "
                f"{' or '.join(' and '.join(sorted(form)) for form in forms)}. Received: "
                f"{', '.join(tokenizers) or 'none'}. Copy the preset again."
            )
        try:
            for side, tokenizer in tokenizers.items():
                argument = "source" if side == "shared" else side
                config["config"][f"{argument}_tokenizer"] = tokenizer
            model = keras.saving.deserialize_keras_object(config)
            if load_weights:
                read_weights(model, self.folder / WEIGHTS, self.metadata["weights"])
        except MissingPackageError:
            raise
        except Exception as error:  # a config can raise any error
            first: BaseException = error
            while first.__context__ is not None:  # Keras raises a long error after the first one
                first = first.__context__
            reason = " ".join(str(first).split())
            raise ValueError(
                f"{self.folder}: the preset cannot be loaded: {type(first).__name__}: "
                f"{reason:.200}. It was written by kerasnmt {self.metadata['kerasnmt_version']} "
                f"with Keras {self.metadata['keras_version']}; you have {__version__} and "
                f"{keras.__version__}. Import your own tokenizers and layers before loading."
            ) from error
        model.search_options = search
        if model.name != self.model_name:
            raise ValueError(
                f"{self.folder}: expected the model {self.model_name}, which {METADATA} names. "
                f"Received: {model.name}. Copy the preset again."
            )
        return model

    def keep_shortlist(self, shortlist: Shortlist) -> None:
        """Write a shortlist of the model into the config, in place of an earlier one."""
        config = self.config()
        config["config"]["shortlist"] = shortlist.document()
        with atomic_write(self.folder / CONFIG) as temporary:
            temporary.write_text(_json(config), encoding="utf-8")
        self.metadata["files"][CONFIG] = _file(self.folder / CONFIG)
        with atomic_write(self.folder / METADATA) as temporary:
            temporary.write_text(_json(self.metadata), encoding="utf-8")

    def _read_json(self, name: str) -> dict[str, Any]:
        try:
            document = json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise ValueError(
                f"{self.folder / name}: expected a mapping in JSON. Received: another file, or a "
                "damaged one. Copy the preset again."
            )
        return document

    def _verify(self, name: str) -> None:
        """Check the checksum of a file."""
        path, expected = self.folder / name, self.metadata["files"][name]["sha256"]
        if not path.exists():
            raise ValueError(f"{path}: the file is missing. Copy the preset again.")
        if (received := sha256(path)) != expected:
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
    """Write a preset, completely or not at all.

    Args:
        model: A model with tokenizers.
        folder: Path of the folder to write. It must not exist.
        weights: Number format of the matrices: "float32", "float16" or "int8".
        about: Description of the preset; see `TextModel.save_to_preset`.

    Returns:
        Path of the folder.

    Raises:
        ValueError: See `TextModel.save_to_preset`.
    """
    if "://" in os.fspath(folder):
        raise ValueError(
            f"Expected a folder. Received: {folder}. Save to a folder, and upload the folder."
        )
    check_weights(weights, FORMATS)
    if model.search_options and isinstance(about or {}, Mapping):
        about = {"search": model.search_options, **(about or {})}
    about = _checked_about(about or {}, model)
    model = in_float32(model)
    config = keras.saving.serialize_keras_object(model)
    config["config"].pop("search_options", None)  # the description has them
    for part in parts_of_config(config):
        part.pop("compile_config", None)
    tokenizers = {
        side: tokenizer
        for side in ("source", "target")
        if (tokenizer := config["config"].pop(f"{side}_tokenizer", None)) is not None
    }
    if tokenizers.keys() == {"source"}:
        tokenizers = {"shared": tokenizers["source"]}
    with atomic_folder(folder) as written:
        (written / CONFIG).write_text(_json(config), encoding="utf-8")
        (written / TOKENIZER).write_text(
            json.dumps(tokenizers, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        write_weights(model, written / WEIGHTS, weights)
        files = {name: _file(written / name) for name in (CONFIG, TOKENIZER, WEIGHTS)}
        metadata = {
            "format": FORMAT,
            "kerasnmt_version": __version__,
            "keras_version": keras.__version__,
            "model": model.name,
            "pipeline_tag": model.pipeline_tag,
            "inputs": list(model.request_fields),
            "parameters": model.count_params(),
            "weights": weights,
            "files": files,
            "about": about,
        }
        (written / METADATA).write_text(_json(metadata), encoding="utf-8")
        (written / CARD).write_text(preset_card(Path(folder).name, metadata), encoding="utf-8")
    return Path(folder)


def _checked_about(about: Mapping[str, Any], model: keras.Model) -> dict[str, Any]:
    """Return a description as values of JSON.

    Raises:
        ValueError: If it has an unknown key or an invalid value.
    """
    if not isinstance(about, Mapping):
        raise ValueError(f"Expected about to be a dict. Received: about={about!r:.200}")
    for key, value in about.items():
        if key not in ABOUT:
            known = [f"about.{name}" for name in ABOUT]
            raise ValueError(unknown_name_message(f"about.{key}", known, "key"))
        if not is_of(value, ABOUT[key]):
            kind = "a finite number" if ABOUT[key] is float else f"of type {ABOUT[key].__name__}"
            raise ValueError(f"Expected about.{key} to be {kind}. Received: about.{key}={value!r}")
    for language in about.get("languages", []):
        if not isinstance(language, str):
            raise ValueError(
                "Expected about.languages to contain codes such as 'en'. Received: "
                f"about.languages={about['languages']!r}"
            )
    for example in about.get("examples", []):
        complete = isinstance(example, dict) and example.keys() == {"input", "output"}
        if not (
            complete and isinstance(example["input"], dict) and isinstance(example["output"], str)
        ):
            raise ValueError(
                "Expected about.examples to contain dicts with an input, a dict such as {'text': "
                f"'I am here.'}}, and an output, a string. Received: {example!r:.200}"
            )
    if about.get("search"):
        if model.options_class is None:
            raise ValueError(
                f"Expected no about.search, because {model.name} does not search. Received: "
                f"about.search={about['search']!r}"
            )
        _checked_search(about, model.options_class)
    try:
        text = json.dumps(dict(about), allow_nan=False, ensure_ascii=False)
        return json.loads(text.encode("utf-8"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected about to contain only values of JSON. Received: {about!r:.300}: {error}"
        ) from error


def _checked_search(
    about: Mapping[str, Any], kind: type[SearchOptions], origin: str = ""
) -> dict[str, Any]:
    """Return the search options of a description, and check them."""
    try:
        return kind.with_changes(about.get("search", {}), [])
    except ValueError as error:
        raise ValueError(f"{origin}about.search: {error}") from error


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _file(path: Path) -> dict[str, Any]:
    """Return the entry of a file in the metadata."""
    return {"bytes": path.stat().st_size, "sha256": sha256(path)}

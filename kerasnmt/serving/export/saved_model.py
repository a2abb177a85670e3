"""Write and load exports as SavedModels."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops of the tokenizers)

from kerasnmt.serving.export.export_module import ExportModule
from kerasnmt.serving.export.version_folder import (
    DESCRIPTION,
    chosen_version,
    read_description,
    refuse_existing,
    write_version,
)
from kerasnmt.serving.export.warmup import WARMUP_REQUESTS, encode_warmup_request
from kerasnmt.tasks import ServedModel


def export_model(model: keras.Model, directory: str | Path, **options) -> str:
    """Write a SavedModel completely or not at all.

    The SavedModel is written into a hidden folder beside its place and moved there in one step, so
    a server that watches the parent folder never sees half a version. Its `assets.extra` holds the
    requests with which TF Serving warms it up, and a description with examples for its check.

    Args:
        model: A `TranslationModel`, `CaptionModel` or `MemoryNetwork` with tokenizers.
        directory: The folder to write, `<name>/<version>`. It must not exist; its parents may.
        **options: Arguments of `ExportModule`.

    Returns:
        The directory.

    Raises:
        ValueError: If the directory exists, its name is not a version number, or the model cannot
            be exported.
        OSError: If it cannot be written, for example because the disk is full.
    """
    directory = Path(directory)
    name = directory.name
    if not name.isdecimal() or str(int(name)) != name:
        raise ValueError(
            "Expected a directory whose name is a version number, as TF Serving requires: "
            f"'{directory}/1'. Received: directory='{directory}'"
        )
    refuse_existing(directory)  # before the model is traced
    return _export(model, directory.parent, options, number=int(name))


def export_next_version(model: keras.Model, directory: str | Path, **options) -> str:
    """Write the version after the newest one under `directory`, starting at 1.

    Two exports at the same time get two versions.

    Args:
        model: A `TranslationModel`, `CaptionModel` or `MemoryNetwork` with tokenizers.
        directory: The model's folder, `<name>`.
        **options: Arguments of `ExportModule`.

    Returns:
        The directory of the version.

    Raises:
        ValueError: If the directory's name is a number, like that of a version, or the model cannot
            be exported.
        OSError: If it cannot be written.
    """
    directory = Path(directory)
    if directory.name.isdecimal():
        raise ValueError(
            "Expected the folder of a model, to write its next version there. Received: "
            f"directory='{directory}', the folder of a version. Call export_model for this "
            f"version, or pass '{directory.parent}' for the next version."
        )
    return _export(model, directory, options)


def load_export(directory: str | Path) -> ServedModel:
    """Load an export for `Translator`.

    Args:
        directory: `<name>/<version>`, or `<name>` for its newest version.

    Returns:
        The export, whose `signatures` take and return tensors.

    Raises:
        ValueError: If there is no export.
    """
    directory = chosen_version(Path(directory))
    if not (directory / DESCRIPTION).exists():
        raise ValueError(
            f"Expected an export of kerasnmt, <name>/<version> with {DESCRIPTION}. Received: "
            f"directory='{directory}'. Write one with model.export or `kerasnmt export`."
        )
    description = read_description(directory)
    return _LoadedExport(tf.saved_model.load(str(directory)), description)


class _LoadedExport(ServedModel):
    """A SavedModel in this process, with its description."""

    def __init__(self, loaded: Any, description: dict[str, Any]) -> None:
        self.signatures = loaded.signatures
        self.fields = tuple(description["inputs"])
        if "text" in self.fields:
            self.source_lengths = loaded.source_lengths.get_concrete_function()
        self.description = description
        self._loaded = loaded  # its variables live only as long as this object


def _export(
    model: keras.Model, directory: Path, options: dict[str, Any], number: int | None = None
) -> str:
    """Write a version under the model's folder."""
    module = ExportModule(model, **options)
    served_name = directory.absolute().name
    description = json.dumps(module.description, ensure_ascii=False)
    saved = module.saved
    # The check compares it with the file that clients read.
    saved.description = tf.function(lambda: tf.constant(description), input_signature=[])

    def write(folder: Path) -> None:
        with tf.device("CPU"), _without_notes():
            tf.saved_model.save(
                saved,
                str(folder),
                signatures={
                    name: function.get_concrete_function()
                    for name, function in module.signatures.items()
                },
            )
        (folder / DESCRIPTION).parent.mkdir()
        with tf.device("CPU"):  # like the check: a GPU may round differently
            document = {**module.description, "examples": module.examples()}
        text = json.dumps(document, ensure_ascii=False, indent=2)
        (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
        with tf.io.TFRecordWriter(str(folder / WARMUP_REQUESTS)) as file:
            for request in module.warmup_requests():
                file.write(encode_warmup_request(request, served_name))

    try:
        return str(write_version(directory, write, number))
    except tf.errors.OpError as error:  # for example a full disk
        raise OSError(f"{directory}: the export could not be written: {error.message}") from error


@contextmanager
def _without_notes() -> Iterator[None]:
    """Hide TensorFlow's note, shown in notebooks, of a folder that is about to be renamed."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(max(level, logging.WARNING))
    try:
        yield
    finally:
        logger.setLevel(level)

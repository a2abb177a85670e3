"""Exports as SavedModels."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from kerasnmt.serving.contract.export_contract import ExportContract
from kerasnmt.serving.protocol.meta_graph import MetaGraph
from kerasnmt.serving.runtimes.export_module import ExportModule
from kerasnmt.serving.runtimes.saved_model.warmup import (
    WARMUP_REQUESTS,
    encode_warmup_request,
    warmup_requests,
)
from kerasnmt.serving.runtimes.version_folder import (
    DESCRIPTION,
    find_export,
    refuse_existing,
    write_version,
)
from kerasnmt.tasks import ServedModel

with suppress(ModuleNotFoundError):  # some machines do not have it
    import tensorflow_text  # noqa: F401  (registers the ops of SentencePiece)


def export_model(model: keras.Model, directory: str | Path, **options) -> str:
    """Write a SavedModel, completely or not at all.

    The SavedModel is written to a hidden folder in the parent folder, and then moved in one
    operation. So a server that watches the parent folder never sees an incomplete version. Its
    `assets.extra` contains warm-up requests for TF Serving, and a description with examples for the
    check. Before it is moved, it is loaded, and must answer these examples as the model does.

    Args:
        model: A `TranslationModel`, `CaptionModel` or `MemoryNetwork` with tokenizers.
        directory: Path of the folder to write, `<name>/<version>`. It must not exist. Its parents
            are created if necessary.
        **options: Arguments of `ExportModule`.

    Returns:
        Path of the folder.

    Raises:
        ValueError: If the folder exists, its name is not a version number, the model cannot be
            exported, or the SavedModel answers the examples in another way than the model.
        OSError: If the folder cannot be written, for example because the disk is full.
    """
    directory = Path(directory)
    name = directory.name
    if not name.isdecimal() or str(int(name)) != name:
        raise ValueError(
            "Expected a directory whose name is a version number, because TF Serving requires one, "
            f"such as '{directory}/1'. Received: directory='{directory}'"
        )
    refuse_existing(directory)  # before the model is traced
    return _export(model, directory.parent, options, number=int(name))


def export_next_version(model: keras.Model, directory: str | Path, **options) -> str:
    """Write the next version of a model, starting with 1.

    Two exports at the same time get different versions.

    Args:
        model: A `TranslationModel`, `CaptionModel` or `MemoryNetwork` with tokenizers.
        directory: Path of the model's folder, `<name>`.
        **options: Arguments of `ExportModule`.

    Returns:
        Path of the version.

    Raises:
        ValueError: If the name of the folder is a number, like the name of a version, or the model
            cannot be exported.
        OSError: If the version cannot be written.
    """
    directory = Path(directory)
    if directory.name.isdecimal():
        raise ValueError(
            "Expected the folder of a model for its next version. Received: "
            f"directory='{directory}', the folder of a version. Call export_model for this "
            f"version, or pass '{directory.parent}' for the next version."
        )
    return _export(model, directory, options)


def load_export(directory: str | Path) -> ServedModel:
    """Load an export for `Translator`.

    Args:
        directory: Path of a version, `<name>/<version>`, or `<name>` for its newest version.

    Returns:
        The export, whose `signatures` take and return tensors.

    Raises:
        ValueError: If there is no export, or an earlier version of kerasnmt wrote it with two
            different SentencePiece tokenizers.
    """
    directory, description = find_export(directory)
    return _LoadedExport(load_saved_model(directory), description)


def load_saved_model(directory: str | Path) -> Any:
    """Load a SavedModel into this process, like `tf.saved_model.load`.

    Args:
        directory: Path of the folder with `saved_model.pb`.

    Returns:
        The loaded object.

    Raises:
        ValueError: If TensorFlow reads the path as a pattern, or its SentencePiece tokenizers have
            no distinct shared names. TensorFlow in Python would use one of them for all texts. A
            server is not affected.
    """
    _check_path(directory)
    if MetaGraph.from_saved_model(directory).collides:
        raise ValueError(
            "Expected a SavedModel whose SentencePiece tokenizers have distinct names. Received: "
            f"{directory}, which an earlier version wrote, and which TensorFlow in Python would "
            "answer with the wrong tokenizer. Export the model again."
        )
    return tf.saved_model.load(str(directory))


def _check_path(directory: str | Path) -> None:
    if "[" in str(directory):
        raise ValueError(
            "Expected a path without [, which TensorFlow reads as a pattern. Received: "
            f"directory='{directory}'. Choose another name."
        )


class _LoadedExport(ServedModel):
    """SavedModel in this process, with its description."""

    def __init__(self, loaded: Any, description: dict[str, Any]) -> None:
        self.signatures = loaded.signatures
        self.fields = tuple(description["inputs"])
        if (lengths := getattr(loaded, "source_lengths", None)) is not None:
            self.source_lengths = lengths.get_concrete_function()
        self.description = description
        self._loaded = loaded  # keep the object, because its variables are deleted with it


def _export(
    model: keras.Model, directory: Path, options: dict[str, Any], number: int | None = None
) -> str:
    """Write a version to the model's folder."""
    _check_path(directory)
    module = ExportModule(model, **options)
    model_name = directory.absolute().name
    description = json.dumps(module.description, ensure_ascii=False)
    saved = module.saved
    # The check compares this description with the file that clients read.
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
        with tf.device("CPU"):  # like the check, because a GPU can round differently
            examples = module.examples()
            _try_out(folder, module.contract, examples)
        document = {**module.description, "examples": examples}
        text = json.dumps(document, ensure_ascii=False, indent=2)
        (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
        with tf.io.TFRecordWriter(str(folder / WARMUP_REQUESTS)) as file:
            for request in warmup_requests(module.signatures, module.contract):
                file.write(encode_warmup_request(request, model_name))

    try:
        return str(write_version(directory, write, number))
    except tf.errors.OpError as error:  # for example a full disk
        raise OSError(f"{directory}: the export could not be written: {error.message}") from error


def _try_out(folder: Path, contract: ExportContract, examples: dict[str, list[str]]) -> None:
    """Raise a `ValueError` if the written SavedModel does not answer as the model does."""
    rows, expected = contract.described_examples({"examples": examples})
    columns = {name: tf.constant(values) for name, values in contract.columns(rows).items()}
    loaded = load_saved_model(folder)
    answers = loaded.signatures["serving_default"](**columns)[contract.answer].numpy()
    for number, (answer, wanted) in enumerate(zip(answers.tolist(), expected, strict=True)):
        if answer.decode() != wanted:
            raise ValueError(
                "Expected an export that answers as the model does. Received: "
                f"{answer.decode()!r} for example {number}, where the model gives {wanted!r}. "
                "Nothing was written. Look for operations in the model or its tokenizers that "
                "TensorFlow does not store in a SavedModel."
            )


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

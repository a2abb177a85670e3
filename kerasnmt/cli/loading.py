"""Runs and exports, told apart by what they hold."""

import zipfile
from pathlib import Path
from typing import Any

from kerasnmt.cli.quiet import load_tensorflow


def load_run(directory: Path) -> tuple[Any, dict[str, Any]]:
    """Load the model of a run.

    Args:
        directory: a folder that `kerasnmt train` wrote.

    Returns:
        the model, and the search options of its recipe.

    Raises:
        ValueError: the folder holds no model, or a damaged one.
    """
    from kerasnmt.training import Recipe, RunFolder

    run = RunFolder(directory)
    if not run.model.exists():
        raise ValueError(
            "Expected the folder of a run, with a model.keras as `kerasnmt train` writes it. "
            f"Received: {directory}"
        )
    load_tensorflow()
    import keras

    import kerasnmt.models  # noqa: F401  (registers the classes of the file)

    try:
        model = keras.saving.load_model(run.model, compile=False)
    except (ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{run.model}: the model cannot be loaded: {error}") from error
    options = Recipe.load(run.recipe).search.options if run.recipe.exists() else {}
    return model, options


def load_translator(directory: Path, beam_size: int | None = None) -> Any:
    """Load a run or an export for translation.

    Args:
        directory: a run; or an export, `<name>/<version>` or `<name>`, or one for LiteRT.
        beam_size: in place of the recipe's. An export's is fixed.

    Returns:
        a `kerasnmt.serving.Translator`.

    Raises:
        ValueError: the folder holds neither, or a damaged one, or another beam is asked of an
            export.
    """
    from kerasnmt.training import RunFolder

    if RunFolder(directory).model.exists():
        model, options = load_run(directory)
        if beam_size is not None:
            options["beam_size"] = beam_size
        from kerasnmt.serving import TextModule, Translator

        return Translator(TextModule(model, **options))
    is_lite = (directory / "model.tflite").exists()
    exports = [directory / "saved_model.pb", *directory.glob("*/saved_model.pb")]
    if not is_lite and not any(path.exists() for path in exports):
        raise ValueError(
            "Expected the folder of a run, with a model.keras, or of an export, with a "
            f"saved_model.pb or a model.tflite. Received: {directory}"
        )
    load_tensorflow()
    import tensorflow as tf

    from kerasnmt.serving import Translator, load_export, load_lite

    try:
        translator = Translator((load_lite if is_lite else load_export)(directory))
    except (tf.errors.OpError, OSError, IndexError) as error:  # what TensorFlow says of bad files
        raise ValueError(
            f"{directory}: the export cannot be loaded; `kerasnmt check` tells more: {error}"
        ) from error
    fixed = translator.description["beam_size"]
    if beam_size not in (None, fixed):
        raise ValueError(
            f"Expected the beam size that is fixed in the export, {fixed}. Received: "
            f"--beam-size {beam_size}. Leave it out, or export again with another."
        )
    return translator

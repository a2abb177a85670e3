"""Loading of the folders that `export_onnx` writes."""

import json
from collections.abc import Sequence
from pathlib import Path

from kerasnmt.checksum import sha256
from kerasnmt.extras import MissingPackageError
from kerasnmt.runtime.answering import OnnxAnswering
from kerasnmt.runtime.captioning import OnnxCaptioning
from kerasnmt.runtime.onnx_model import OnnxModel
from kerasnmt.runtime.translation import OnnxTranslation
from kerasnmt.tasks.translator import Translator

DESCRIPTION, TOKENIZERS = "kerasnmt.json", "tokenizers.json"
MODEL = "model"  # folder of the model of a site
FORMAT = 1
# Class of the models that read these fields of a request.
MODELS: dict[tuple[str, ...], type[OnnxModel]] = {
    ("text",): OnnxTranslation,
    ("text", "context"): OnnxTranslation,
    ("image",): OnnxCaptioning,
    ("story", "question"): OnnxAnswering,
}


def load(directory: str | Path, **options) -> Translator:
    """Load a model for ONNX Runtime, without TensorFlow and Keras.

    It needs the extra `onnx`, or `images` for a model that captions images.

    Args:
        directory: Path of a folder that `kerasnmt.serving.export_onnx` or `export_web` wrote.
        **options: Options of `kerasnmt.decoding.SearchOptions` in place of those of the export.

    Returns:
        A `kerasnmt.tasks.Translator`: with `translate`, `n_best`, `score`, `attention`, `align`,
        `confidence` and `stream` if it translates, `caption` if it captions images, or `answer` if
        it answers questions.

    Raises:
        ValueError: If `export_onnx` did not write the folder, a file is damaged, or an option is
            unknown, out of range or not for this model.
        ModuleNotFoundError: If a package is not installed.
    """
    return Translator(load_onnx(directory, **options))


def load_onnx(directory: str | Path, changes: Sequence[str] = (), **options) -> OnnxModel:
    """Load a model for `Translator`.

    Args:
        directory: See `load`.
        changes: Names and values of options, such as `beam_size=8`, from the command line.
        **options: See `load`.

    Raises:
        ValueError: See `load`.
    """
    directory = Path(directory)
    if (directory / MODEL / DESCRIPTION).is_file():
        directory /= MODEL
    if not (directory / DESCRIPTION).is_file():
        raise ValueError(
            "Expected a folder that kerasnmt export --runtime onnx wrote. "
            f"Received: {directory}, without {DESCRIPTION}."
        )
    try:
        description = json.loads((directory / DESCRIPTION).read_bytes())
        if "format" not in description:
            raise ValueError("it is for another runtime. kerasnmt translate runs it")
        if description["format"] > FORMAT:
            raise ValueError(
                f"its format {description['format']} is newer than {FORMAT}. Update kerasnmt"
            )
        model = MODELS[tuple(description["inputs"])]
        for name in (*model.graphs, TOKENIZERS):
            if sha256(directory / name) != description["files"][name]:
                raise ValueError(f"{name} is damaged. Copy or export it again")
        model.with_options(description, {})  # its own options are there
        tokenizers = json.loads((directory / TOKENIZERS).read_bytes())
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise ValueError(f"{directory}: the model cannot be loaded: {error}") from error
    described = model.with_options(description, options, changes)
    try:
        return model(directory, described, tokenizers)
    except MissingPackageError:
        raise
    except Exception as error:  # ONNX Runtime has errors of its own
        raise ValueError(f"{directory}: the model cannot be loaded: {error}") from error

"""Runs and exports, told apart by what they hold, and models that are served elsewhere."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kerasnmt.cli.quiet import load_tensorflow


def load_run(
    directory: Path,
    others: Sequence[Path] | None = None,
    search: Sequence[str] | None = None,
    *,
    translates: bool = True,
) -> tuple[Any, dict[str, Any]]:
    """Load the model of a run, or an ensemble of several.

    Args:
        directory: A folder that `kerasnmt train` wrote.
        others: More of them, whose models join the first model in an ensemble.
        search: Changes to the search options, such as `beam_size=8`.
        translates: Whether the model must translate. Otherwise it may also caption images.

    Returns:
        The model, which computes in float32 however it was trained, and the search options of the
        first recipe, with the changes.

    Raises:
        ValueError: If a folder holds no model, a damaged one, or one of another kind; the models do
            not go together; or a search option is unknown or out of range.
    """
    model, options = _load_one(directory, search or [], translates or bool(others))
    if others:
        from kerasnmt.models import Ensemble

        members = [model, *(_load_one(other, [], True)[0] for other in others)]
        model = Ensemble(members, name="ensemble")
    return model, options


def _load_one(
    directory: Path, search: Sequence[str], translates: bool
) -> tuple[Any, dict[str, Any]]:
    from kerasnmt.training import Recipe, RunFolder

    run = RunFolder(directory)
    if not run.model.exists():
        raise ValueError(
            "Expected the folder of a run, with a model.keras as `kerasnmt train` writes it. "
            f"Received: {directory}"
        )
    options = {}
    if search and not run.recipe.exists():
        raise ValueError(
            f"Expected {run.recipe}, whose search options --search changes. Received: a run "
            "without one. Leave --search out, or put the recipe back."
        )
    if run.recipe.exists():
        options = Recipe.load(run.recipe, [f"search.{option}" for option in search]).search.options
    load_tensorflow()
    from kerasnmt.models import SearchModel, TranslationModel, in_float32, load_model

    model = load_model(run.model, compile=False)
    if not isinstance(model, TranslationModel if translates else SearchModel):
        raise ValueError(
            f"{run.model}: expected a model that translates. Received: {model.name}, a "
            f"{type(model).__name__}. In Python, model.export writes it for TF Serving."
        )
    return in_float32(model), options


def refuse_run(directory: Path) -> None:
    """Refuse a run where an export is expected, and say how to export it.

    Raises:
        ValueError: the folder holds a run.
    """
    from kerasnmt.training import RunFolder

    if RunFolder(directory).model.exists():
        command = shlex.join(["kerasnmt", "export", str(directory), "saved_models/NAME"])
        raise ValueError(
            f"Expected the folder of an export. Received: {directory}, a run. Export it first: "
            f"{command}"
        )


def check_one_beam_size(beam_size: int | None, search: Sequence[str] | None) -> None:
    """Refuse two numbers for one thing.

    Raises:
        ValueError: both --beam-size and --search say how large the beam is.
    """
    for option in search or []:
        if beam_size is not None and option.startswith("beam_size="):
            raise ValueError(
                f"Expected one beam size. Received: --beam-size {beam_size} and --search {option}."
            )


def load_translator(
    directory: Path,
    beam_size: int | None = None,
    *,
    others: Sequence[Path] | None = None,
    search: Sequence[str] | None = None,
) -> Any:
    """Load a run or an export for translation.

    Args:
        directory: a run; or an export, `<name>/<version>` or `<name>`, or one for LiteRT.
        beam_size: in place of the recipe's. An export's is fixed.
        others: see `load_run`; for runs.
        search: see `load_run`; for runs.

    Returns:
        a `kerasnmt.serving.Translator`.

    Raises:
        ValueError: the folder holds neither, or a damaged one, or another beam is asked of an
            export.
    """
    from kerasnmt.training import RunFolder

    if RunFolder(directory).model.exists():
        check_one_beam_size(beam_size, search)
        model, options = load_run(directory, others, search)
        if beam_size is not None:
            options["beam_size"] = beam_size
        from kerasnmt.serving import Translator

        return Translator(model.serving_module(**options))
    is_lite = (directory / "model.tflite").exists()
    exports = [directory / "saved_model.pb", *directory.glob("*/saved_model.pb")]
    if not is_lite and not any(path.exists() for path in exports):
        raise ValueError(
            "Expected the folder of a run, with a model.keras, or of an export, with a "
            f"saved_model.pb or a model.tflite. Received: {directory}"
        )
    if others or search:
        raise ValueError(
            "Expected the folder of a run, with --with or --search: in an export both are fixed. "
            f"Received: {directory}, an export."
        )
    load_tensorflow()
    import tensorflow as tf

    from kerasnmt.serving import Translator, load_export, load_lite

    try:
        translator = Translator((load_lite if is_lite else load_export)(directory))
    except (tf.errors.OpError, OSError, IndexError) as error:  # what TensorFlow says of bad files
        more = "" if is_lite else "; `kerasnmt check` shows why"
        raise ValueError(f"{directory}: the export cannot be loaded{more}: {error}") from error
    fixed = translator.description["beam_size"]
    if beam_size not in (None, fixed):
        raise ValueError(
            f"Expected the beam size that is fixed in the export, {fixed}. Received: "
            f"--beam-size {beam_size}. Leave it out, or export again with another."
        )
    return translator


def connect_translator(
    server: str, model: str, version: int | None = None, timeout: float = 60.0
) -> Any:
    """Reach a model that a server has, for translation.

    Args:
        server: `http://host:port`, `https://…`, or `grpc://host:port`.
        model: the name under which it serves the model.
        version: of the model; None for the one that the server takes.
        timeout: seconds to wait for each answer.

    Returns:
        a `kerasnmt.serving.Translator`.

    Raises:
        ValueError: the server's URL is another, the package for gRPC is not installed, or the
            server refuses.
        TransientError: the server does not answer.
    """
    url = urlsplit(server)
    if url.scheme in ("http", "https") and url.netloc:
        from kerasnmt.serving import RestClient as Client
    elif url.scheme == "grpc" and url.netloc and not url.path.strip("/"):
        load_tensorflow()
        try:
            from kerasnmt.serving import GrpcClient as Client
        except ModuleNotFoundError as error:
            raise ValueError(
                f"Expected the package {error.name}, which gRPC needs: "
                "pip install tensorflow-serving-api (the extra `serving`), or take the server's "
                "REST port."
            ) from error
    else:
        raise ValueError(
            "Expected --server http://host:port, https://host:port or grpc://host:port. "
            f"Received: --server {server}"
        )
    from kerasnmt.serving import Translator

    return Translator(Client(server, model, version, timeout=timeout))

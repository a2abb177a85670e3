"""Trained models by name, folder or URI."""

import os

import keras

from kerasnmt.models import TranslationModel
from kerasnmt.presets import Preset
from kerasnmt.presets.folders import preset_folder, shipped_presets, unknown_preset_message

_HUB = "hf://"


def list_presets() -> list[str]:
    """Return the sorted names of the presets that are installed."""
    return list(shipped_presets())


def get_preset(preset: str | os.PathLike) -> Preset:
    """Return a preset, without loading its model.

    Args:
        preset: A folder that `model.save_to_preset` wrote, a name of `list_presets`, or
            "hf://user/model" for a preset on the Hugging Face Hub, which needs the package
            `huggingface_hub`. A folder has precedence over a name.

    Returns:
        The preset.

    Raises:
        ValueError: If there is no such preset, the folder is not a preset, or the preset cannot be
            downloaded. The error suggests the nearest name, or the package that has the preset.
    """
    preset = os.fspath(preset)
    if "://" in preset:
        return _from_hub(preset)
    folder = preset_folder(preset)
    if folder is not None:
        return Preset(folder)
    if os.path.exists(preset) or os.sep in preset:
        raise ValueError(
            "Expected the folder of a preset, with a config.json and a metadata.json. Received: "
            f"{preset}, which is not a preset. `kerasnmt presets` lists the names of presets."
        )
    raise ValueError(unknown_preset_message(preset))


def from_preset(
    preset: str | os.PathLike, *, language: str | None = None, load_weights: bool = True
) -> keras.Model:
    """Load a trained model.

    ```python
    model = from_preset("g2p", language="nl")
    model.translate(["fiets"])
    ```

    Args:
        preset: A name of `list_presets`, a folder that `model.save_to_preset` wrote, or
            "hf://user/model"; see `get_preset`.
        language: Language of the texts, for a model that reads the language as a tag; see
            `TranslationModel.set_language`. None for any language, with a tag in each text.
        load_weights: Whether the model gets the trained weights. If False, the weights are random.

    Returns:
        The model with its tokenizers, in float32, not compiled. Its `search_options` are those of
        the preset.

    Raises:
        ValueError: If there is no such preset, one of its files is missing or damaged, or the model
            does not translate texts, or has no tag for the language.
    """
    model = get_preset(preset).load(load_weights)
    if language is not None:
        if not isinstance(model, TranslationModel):
            raise ValueError(
                "Expected a preset that translates texts, with language=. Received: "
                f"{preset}, a {type(model).__name__}. Leave the language out."
            )
        model.set_language(language)
    return model


def _from_hub(uri: str) -> Preset:
    """Return a preset of the Hugging Face Hub, which is downloaded once."""
    repository = uri.removeprefix(_HUB).strip("/")
    if not uri.startswith(_HUB) or repository.count("/") != 1:
        raise ValueError(f"Expected a URI of the form hf://user/model. Received: {uri}")
    try:
        import huggingface_hub
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Expected the package huggingface_hub to load {uri}. Install it: "
            "pip install huggingface_hub"
        ) from error
    try:
        folder = huggingface_hub.snapshot_download(
            repo_id=repository,
            library_name="keras",
            library_version=keras.__version__,
            allow_patterns=["*.json", "*.h5", "*.md"],
        )
    except Exception as error:  # the package has many kinds of errors
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{uri}: the preset cannot be downloaded: {type(error).__name__}: {reason:.300}"
        ) from error
    try:
        return Preset(folder)
    except ValueError as error:
        raise ValueError(f"{uri}: {error}") from error

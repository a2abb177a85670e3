"""Trained models, by name, folder or URI."""

import os

import keras

from kerasnmt.models import Preset
from kerasnmt.nearest_name import unknown_name_message
from kerasnmt.shipped_presets import shipped_presets

_HUB = "hf://"


def list_presets() -> list[str]:
    """Return the sorted names of the presets that come with the library."""
    return list(shipped_presets())


def get_preset(preset: str | os.PathLike) -> Preset:
    """Return a preset, without loading its model.

    Args:
        preset: A folder that `model.save_to_preset` wrote, a name of `list_presets`, or
            "hf://user/model" for one on the Hugging Face Hub, which needs the package
            `huggingface_hub`. A folder comes before a name.

    Raises:
        ValueError: If there is no such preset (the message has the nearest name), the folder is no
            preset, or the hub does not give it.
    """
    name, shipped = os.fspath(preset), shipped_presets()
    if "://" in name:
        return Preset(_downloaded(name))
    if os.path.isdir(name):
        return Preset(name)
    if name in shipped:
        return Preset(shipped[name])
    if os.sep in name:
        raise ValueError(f"Expected the folder of a preset. Received: {name}, which does not exist")
    raise ValueError(unknown_name_message(name, shipped, "preset"))


def from_preset(preset: str | os.PathLike, *, load_weights: bool = True) -> keras.Model:
    """Load a trained model.

    ```python
    model = from_preset("tatoeba_en_fr")
    model.translate(["I love you."], beam_size=5)
    ```

    Args:
        preset: A name of `list_presets`, a folder that `model.save_to_preset` wrote, or
            "hf://user/model"; see `get_preset`.
        load_weights: Whether the model gets the trained weights; otherwise they are random.

    Returns:
        The model with its tokenizers, not compiled, in float32.

    Raises:
        ValueError: If there is no such preset, or a file of it is missing or damaged.
    """
    return get_preset(preset).load(load_weights)


def _downloaded(uri: str) -> str:
    """Return the folder of a repository of the Hugging Face Hub, downloaded once."""
    repository = uri.removeprefix(_HUB)
    if repository == uri or repository.strip("/").count("/") != 1:
        raise ValueError(f"Expected a URI of the form hf://user/model. Received: {uri}")
    try:
        import huggingface_hub
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Expected the package huggingface_hub, to load {uri}. Install it: "
            "pip install huggingface_hub"
        ) from error
    try:
        return huggingface_hub.snapshot_download(
            repo_id=repository, library_name="keras", library_version=keras.__version__
        )
    except Exception as error:  # the package has many kinds, of networks and of the hub
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{uri}: the preset cannot be downloaded: {type(error).__name__}: {reason:.300}"
        ) from error

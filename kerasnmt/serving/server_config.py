"""The two files with which TF Serving serves all models of a folder."""

from pathlib import Path

from kerasnmt.atomic_write import atomic_write
from kerasnmt.serving.version_folder import model_folders
from kerasnmt.serving.warmup import WARMUP_BATCH_SIZES

MODELS_CONFIG = "models.config"
BATCHING_PARAMETERS = "batching_parameters.txt"

_BATCHING = f"""\
# For tensorflow_model_server --enable_batching --batching_parameters_file=…
# The most texts that are translated at once, and the most that one request may hold.
max_batch_size {{ value: {max(WARMUP_BATCH_SIZES)} }}
# How long a request waits for others, in microseconds; 0 for those alone that wait already.
batch_timeout_micros {{ value: 2000 }}
# How many batches may wait before requests are refused, with the status UNAVAILABLE.
max_enqueued_batches {{ value: 100 }}
# How many batches are translated at the same time: by default as many as there are cores.
# num_batch_threads {{ value: 4 }}
"""


def write_server_config(directory: str | Path, base_path: str = "/models") -> tuple[Path, Path]:
    """Write `models.config` and `batching_parameters.txt` for the models of a folder.

    They are text forms of `ModelServerConfig` and `BatchingParameters`, for the options
    `--model_config_file` and `--batching_parameters_file` of `tensorflow_model_server`. Of each
    model a server takes the newest version. Files that are there are replaced, each whole or not
    at all; batching parameters are a beginning, to be changed under another name.

    Args:
        directory: the parent of models' folders, such as `saved_models`.
        base_path: what the folder is called where the server runs; an absolute path.

    Returns:
        the two files.

    Raises:
        ValueError: the folder holds no model, or `base_path` is not absolute.
    """
    directory = Path(directory)
    models = model_folders(directory)
    if not models:
        raise ValueError(
            "Expected a folder of models, each <name>/<version> with a SavedModel. "
            f"Received: {directory}. Export one to {directory / '<name>'} before."
        )
    if not base_path.startswith("/"):
        raise ValueError(
            "Expected the absolute path of the models where the server runs. "
            f"Received: base_path={base_path!r}"
        )
    entries = "".join(_entry(model.name, base_path.rstrip("/")) for model in models)
    config, parameters = directory / MODELS_CONFIG, directory / BATCHING_PARAMETERS
    with atomic_write(config) as path:
        path.write_text(f"model_config_list {{\n{entries}}}\n", encoding="ascii")
    with atomic_write(parameters) as path:
        path.write_text(_BATCHING, encoding="utf-8")
    return config, parameters


def _entry(name: str, base_path: str) -> str:
    return (
        "  config {\n"
        f"    name: {_quoted(name)}\n"
        f"    base_path: {_quoted(f'{base_path}/{name}')}\n"
        '    model_platform: "tensorflow"\n'
        "  }\n"
    )


def _quoted(text: str) -> str:
    """A string of a message in text form: other bytes than those of plain ASCII in octal."""
    plain = {*range(0x20, 0x7F)} - {*b'"\\'}
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'

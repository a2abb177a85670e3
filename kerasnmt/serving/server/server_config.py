"""Configuration files with which TF Serving serves all models of a folder."""

from pathlib import Path

from kerasnmt.atomic_write import atomic_write
from kerasnmt.serving.contract.export_contract import WARMUP_BATCH_SIZES
from kerasnmt.serving.runtimes.saved_model.runtime import SavedModelRuntime

MODELS_CONFIG = "models.config"
BATCHING_PARAMETERS = "batching_parameters.txt"

_BATCHING = f"""\
# For tensorflow_model_server --enable_batching --batching_parameters_file=…
# Maximum number of texts in a batch, and in one request. With less, a version does not load,
# because its warm-up requests have as many.
max_batch_size {{ value: {max(WARMUP_BATCH_SIZES)} }}
# Microseconds that a request waits for others; 0 to batch only requests that are already waiting.
batch_timeout_micros {{ value: 2000 }}
# Maximum number of waiting batches. More requests get the status UNAVAILABLE.
max_enqueued_batches {{ value: 100 }}
# Number of batches that are processed at the same time; by default the number of cores.
# num_batch_threads {{ value: 4 }}
"""


def write_server_config(directory: str | Path, base_path: str = "/models") -> tuple[Path, Path]:
    """Write `models.config` and `batching_parameters.txt` for the models of a folder.

    These are `ModelServerConfig` and `BatchingParameters` in text format, for the options
    `--model_config_file` and `--batching_parameters_file` of `tensorflow_model_server`. The server
    loads the newest version of each model. An existing `models.config` is replaced, completely or
    not at all. Existing batching parameters stay, because they may be tuned.

    Args:
        directory: Path of the parent of the models' folders, such as `saved_models`.
        base_path: Absolute path of this folder on the machine of the server.

    Returns:
        The paths of the two files.

    Raises:
        ValueError: If the folder contains no model, or `base_path` is not absolute.
    """
    directory = Path(directory)
    runtime = SavedModelRuntime()
    # A version, such as <name>/1, is no folder of a model.
    models = sorted(
        folder for folder in directory.glob("*") if runtime.find(folder) not in (None, folder)
    )
    if not models:
        raise ValueError(
            "Expected a folder of models, with a SavedModel in each <name>/<version>. "
            f"Received: {directory}. Export a model to {directory / '<name>'} first."
        )
    if not base_path.startswith("/"):
        raise ValueError(
            "Expected the absolute path of the models on the machine of the server. "
            f"Received: base_path={base_path!r}"
        )
    entries = "".join(_entry(model.name, base_path.rstrip("/")) for model in models)
    config, parameters = directory / MODELS_CONFIG, directory / BATCHING_PARAMETERS
    with atomic_write(config) as path:
        path.write_text(f"model_config_list {{\n{entries}}}\n", encoding="ascii")
    if not parameters.exists():
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
    """Quote a string for the text format of protobuf. Bytes that are not ASCII are escaped."""
    plain = {*range(0x20, 0x7F)} - {*b'"\\'}
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'

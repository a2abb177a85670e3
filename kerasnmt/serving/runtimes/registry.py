"""The runtimes of exports."""

from pathlib import Path

from kerasnmt.serving.runtimes.ctranslate2.runtime import CTranslate2Runtime
from kerasnmt.serving.runtimes.litert.runtime import LiteRTRuntime
from kerasnmt.serving.runtimes.onnx.runtime import OnnxRuntime
from kerasnmt.serving.runtimes.runtime import Runtime
from kerasnmt.serving.runtimes.saved_model.runtime import SavedModelRuntime
from kerasnmt.serving.runtimes.web.runtime import WebRuntime

_RUNTIMES: list[Runtime] = [
    SavedModelRuntime(),
    CTranslate2Runtime(),
    LiteRTRuntime(),
    OnnxRuntime(),
    WebRuntime(),
]


def runtimes() -> tuple[Runtime, ...]:
    """Return all runtimes. The first is the default."""
    return tuple(_RUNTIMES)


def register_runtime(runtime: Runtime) -> None:
    """Add a runtime.

    Raises:
        ValueError: If another runtime has the same name.
    """
    if runtime.name in (one.name for one in _RUNTIMES):
        raise ValueError(f"Expected a runtime with another name. Received: {runtime.name}.")
    _RUNTIMES.append(runtime)


def runtime_named(name: str) -> Runtime:
    """Return the runtime with a name of `kerasnmt export --runtime`.

    Raises:
        ValueError: If there is none.
    """
    for runtime in _RUNTIMES:
        if runtime.name == name:
            return runtime
    known = ", ".join(runtime.name for runtime in _RUNTIMES)
    raise ValueError(f"Expected one of the runtimes {known}. Received: {name}.")


def export_folders(directory: str | Path) -> list[Path]:
    """Return the folders of the exports in a folder such as `saved_models`, sorted."""
    return sorted(folder for folder in Path(directory).glob("*") if find_runtime(folder))


def find_runtime(directory: str | Path) -> tuple[Runtime, Path] | None:
    """Return the export in a directory, with its runtime.

    Args:
        directory: Path of an export, or of the folder with its versions.

    Returns:
        The runtime, and the folder of the export or of its newest version. None if there is no
        export.
    """
    for runtime in _RUNTIMES:
        if (export := runtime.find(Path(directory))) is not None:
            return runtime, export
    return None

"""Packages that only some rooms need, and the extras that install them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import lazy_loader

_EXTRAS = {
    "tensorflow": "text",
    "tensorflow_text": "text",
    "sentencepiece": "text",
    "pydantic": "train",
    "yaml": "train",
    "sacrebleu": "train",
    "tensorboard": "train",
    "matplotlib": "plot",
    "werkzeug": "serve",
    "waitress": "serve",
    "prometheus_client": "serve",
    "requests": "serve",
    "grpc": "serve",
    "tensorflow_serving": "serve",
    "ctranslate2": "ctranslate2",
    "ai_edge_litert": "litert",
    "onnxruntime": "onnx",
    "PIL": "images",
    "onnx": "onnx-export",
    "tf2onnx": "onnx-export",
    "apache_beam": "beam",
    "jax": "jax",
}


class MissingPackageError(ModuleNotFoundError):
    """Error if a package of an extra is not installed."""


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], Any]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names are imported on use.

    The names are those of its `__init__.pyi`. A name whose module needs a package that is not
    installed raises an error that says how to install it.

    Args:
        package: Name of the package.
        file: Path of its `__init__.py`.
    """
    get, names, all_names = lazy_loader.attach_stub(package, file)

    def get_or_say(name: str) -> Any:
        with extras():
            return get(name)

    return get_or_say, names, all_names


def need(package: str) -> None:
    """Import a package, and say which extra installs it if it is missing.

    Raises:
        MissingPackageError: If the package is not installed.
    """
    with extras():
        import_module(package)


@contextmanager
def extras() -> Iterator[None]:
    """Say which extra installs a package that is missing.

    Raises:
        MissingPackageError: If an import in the block does not find the package of an extra.
    """
    try:
        yield
    except MissingPackageError:
        raise
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise MissingPackageError(
            f"Expected the package {package}, which is not installed. Install it: "
            f"pip install 'kerasnmt[{_EXTRAS[package]}]'",
            name=package,
        ) from error

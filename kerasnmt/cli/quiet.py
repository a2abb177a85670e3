"""Import of TensorFlow, fast and without its messages."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec


def load_tensorflow() -> None:
    """Import TensorFlow and find the devices, without their messages.

    A command calls this function before it imports modules that need TensorFlow.

    Raises:
        ValueError: If the backend of Keras is not installed. TensorFlow Text imports Keras.
    """
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    if backend in ("jax", "torch") and find_spec(backend) is None:
        raise ValueError(
            f"Expected an installed backend of Keras. Received: KERAS_BACKEND={backend}, and "
            f"{backend} is not installed. Install it, or set KERAS_BACKEND=tensorflow."
        )
    # If Keras finds these packages, it imports them for its own plots and for tables.
    with without_talk(), _hidden("matplotlib", "pandas"), _uncollected():
        import tensorflow as tf

        with suppress(ModuleNotFoundError):  # some machines do not have it
            import tensorflow_text  # noqa: F401

        import kerasnmt.text.tensorflow_on_cpu  # noqa: F401

        tf.config.list_logical_devices()


def load_tensorflow_to_train() -> None:
    """Import TensorFlow like `load_tensorflow`, with oneDNN unless the environment disables it.

    By default, TensorFlow disables oneDNN on CPUs without AVX512. Then every large tensor of a
    step, such as the logits, is allocated anew, and the system has to clear its memory.
    """
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    load_tensorflow()


@contextmanager
def _hidden(*packages: str) -> Iterator[None]:
    """Make packages that are not imported yet look as if they were not installed."""
    hidden = {name: None for name in packages if name not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Exclude the objects of modules from garbage collection, if TensorFlow is not imported yet.

    Garbage collection would search these objects for unreachable cycles again and again: during the
    import, later, and at the exit of the process. `benchmarks/startup.py` measures the start.
    """
    if "tensorflow" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def without_talk() -> Iterator[None]:
    """Hide what C++ libraries, such as TensorFlow's, write while they are loaded.

    These messages are about the machine. No setting disables them, because the libraries write them
    before their logging is configured. After an error that the user cannot fix (see
    `kerasnmt.cli.errors.report`), they are shown on standard error.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    stdout, stderr = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as talk:
        os.dup2(talk.fileno(), 1)
        os.dup2(talk.fileno(), 2)
        try:
            yield
        except (ValueError, OSError):
            raise
        except BaseException:
            talk.seek(0)
            os.write(stderr, talk.read())
            raise
        finally:
            for kept, descriptor in ((stdout, 1), (stderr, 2)):
                os.dup2(kept, descriptor)
                os.close(kept)

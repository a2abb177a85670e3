"""TensorFlow without its talk."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


def load_tensorflow() -> None:
    """Imports TensorFlow and finds the devices, without the messages that this writes.

    A verb calls this before it imports anything that needs TensorFlow.
    """
    with without_talk():
        import tensorflow as tf
        import tensorflow_text  # noqa: F401

        tf.config.list_logical_devices()


def load_tensorflow_to_train() -> None:
    """Imports TensorFlow as `load_tensorflow` does, with oneDNN unless the environment says no.

    By itself TensorFlow leaves oneDNN off on older CPUs, such as those without AVX512. Every large
    tensor of a step, such as the logits, is then memory that the system has to clear anew.
    """
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    load_tensorflow()


@contextmanager
def without_talk() -> Iterator[None]:
    """Keeps from standard error what TensorFlow's libraries say there while they are loaded.

    It is about the machine, not about the user's work, and no setting stops it: the C++ libraries
    write it before their logging is set up. Where the loading fails, it is shown.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as talk:
        os.dup2(talk.fileno(), 2)
        try:
            yield
        except BaseException:
            talk.seek(0)
            os.write(stderr, talk.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)

"""TensorFlow without its talk."""

import os
import sys
import tempfile


def load_tensorflow() -> None:
    """Imports TensorFlow and finds the devices, without the messages that this writes.

    They are about the machine, not about the user's work, and no setting stops them: the C++
    libraries write them to standard error before their logging is set up. A verb calls this before
    it imports anything that needs TensorFlow. Where the import fails, they are shown.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as talk:
        os.dup2(talk.fileno(), 2)
        try:
            import tensorflow as tf
            import tensorflow_text  # noqa: F401

            tf.config.list_logical_devices()
        except BaseException:
            talk.seek(0)
            os.write(stderr, talk.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)

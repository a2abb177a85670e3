"""Hide the GPUs from TensorFlow when it is imported, unless Keras runs on it.

Then TensorFlow only reads text, on the CPU. Its first operation would take the memory of all GPUs
that it sees. Modules that run TensorFlow's operations first import this module.
"""

from contextlib import suppress

import keras
import tensorflow as tf

if keras.backend.backend() != "tensorflow":
    with suppress(RuntimeError):  # the program has used TensorFlow before, on devices of its choice
        tf.config.set_visible_devices([], "GPU")

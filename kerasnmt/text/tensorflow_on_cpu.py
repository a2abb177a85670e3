"""Module that hides the GPUs from TensorFlow, unless Keras runs on TensorFlow.

Otherwise, the first operation of TensorFlow would take the memory of all GPUs, although it only
reads text on the CPU. Modules that run operations of TensorFlow import this module first.
"""

from contextlib import suppress

import keras
import tensorflow as tf

if keras.backend.backend() != "tensorflow":
    with suppress(RuntimeError):  # TensorFlow has already run, so its devices cannot change
        tf.config.set_visible_devices([], "GPU")

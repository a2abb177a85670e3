"""The check that Keras runs on TensorFlow."""

import keras


def need_tensorflow_backend() -> None:
    """Raise a `ValueError` unless Keras runs on TensorFlow."""
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "Expected Keras to run on TensorFlow, which holds the tokenizers. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=tensorflow, or feed token "
            "ids to model.search or model.attend."
        )

"""Checks of the backend of Keras."""

import keras


def need_text_backend() -> None:
    """Check that Keras runs on a backend that supports text, TensorFlow or JAX.

    Raises:
        ValueError: If Keras runs on another backend.
    """
    if keras.backend.backend() not in ("tensorflow", "jax"):
        raise ValueError(
            "Expected Keras to run on TensorFlow or JAX for text. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=tensorflow, or pass token ids "
            "to model.search or model.attend."
        )


def need_export_backend() -> None:
    """Check that Keras runs on TensorFlow, which writes exports.

    Raises:
        ValueError: If Keras runs on another backend.
    """
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "Expected Keras to run on TensorFlow to export a model. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=tensorflow and export again. "
            "Models that were trained on another backend can be loaded on TensorFlow."
        )

"""The backends of Keras that a part of the library needs."""

import keras


def need_text_backend() -> None:
    """Check that Keras runs on a backend that takes text: TensorFlow or JAX.

    Raises:
        ValueError: If it does not.
    """
    if keras.backend.backend() not in ("tensorflow", "jax"):
        raise ValueError(
            "Expected Keras to run on TensorFlow or JAX, for text. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=tensorflow, or pass token ids "
            "to model.search or model.attend."
        )


def need_export_backend() -> None:
    """Check that Keras runs on the backend that writes exports: TensorFlow.

    Raises:
        ValueError: If it does not.
    """
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "Expected Keras to run on TensorFlow, to export a model. Received: "
            f"backend={keras.backend.backend()!r}. Set KERAS_BACKEND=tensorflow and export again: "
            "a model that was trained on another backend loads there."
        )

"""Variables of a model during `fit`."""

import keras


def bring_up_to_date(model: keras.Model) -> None:
    """Set the variables of a model in `fit` to their values after the latest batch.

    On JAX, `fit` stores these values elsewhere until the epoch ends.
    """
    if keras.backend.backend() == "jax":
        model.jax_state_sync()

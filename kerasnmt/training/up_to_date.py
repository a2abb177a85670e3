"""The variables of a model during `fit`."""

import keras


def bring_up_to_date(model: keras.Model) -> None:
    """Give the variables of a model in `fit` their values after the last batch.

    On JAX, `fit` holds these values elsewhere until the epoch ends.
    """
    if keras.backend.backend() == "jax":
        model.jax_state_sync()

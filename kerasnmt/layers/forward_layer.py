"""The layer that reads from the first word to the last."""

import keras

from kerasnmt.layers.recurrent_layer import RecurrentLayer


@keras.saving.register_keras_serializable("kerasnmt")
class ForwardLayer(RecurrentLayer):
    """Reads from the first word to the last; its last state knows the last word best.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    directions = ("forward",)

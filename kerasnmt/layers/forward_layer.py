"""The layer that reads from the first word to the last."""

import keras

from kerasnmt.layers.recurrent_layer import RecurrentLayer


@keras.saving.register_keras_serializable("kerasnmt")
class ForwardLayer(RecurrentLayer):
    """Reads from the first word to the last; its last state knows the last word best.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
    """

    directions = ("forward",)

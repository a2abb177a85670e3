"""The layer that reads in both directions."""

import keras

from kerasnmt.layers.recurrent_layer import RecurrentLayer


@keras.saving.register_keras_serializable("kerasnmt")
class BidirectionalLayer(RecurrentLayer):
    """Reads in both directions: annotations h_i = [h_i forward; h_i backward].

    Source: Bahdanau, Cho and Bengio (2015), section 3.2 and appendix A.2.1.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps of a direction, in [0, 1); see `StateDropout`.
    """

    directions = ("forward", "backward")

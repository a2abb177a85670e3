"""The layer that reads the source reversed."""

import keras

from kerasnmt.layers.recurrent_layer import RecurrentLayer


@keras.saving.register_keras_serializable("kerasnmt")
class BackwardLayer(RecurrentLayer):
    """Reads from the last word to the first: the source reversed.

    The first words of the source are then nearest to the first words of the target, which made
    training without attention easier. Outputs stay in the order of the source, and padding is
    never read.

    Source: Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural networks",
    section 3.3.

    Args:
        cell: a recurrent cell that takes projected inputs, for example `GRUCell(units)`.
        state_dropout: share of the states' features that is dropped in training, with one mask for
            all steps, in [0, 1); see `StateDropout`.
    """

    directions = ("backward",)

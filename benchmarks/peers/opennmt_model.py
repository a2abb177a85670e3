"""Model of the driver of OpenNMT-tf, with a bidirectional GRU and a GRU with Luong's attention."""

import opennmt
import tensorflow as tf
import tensorflow_addons as tfa
from common import DROPOUT, UNITS


class Recurrent(opennmt.models.SequenceToSequence):
    """Model with one encoder layer, one decoder layer, input feeding and a dense bridge."""

    def __init__(self) -> None:
        cell = tf.keras.layers.GRUCell
        super().__init__(
            source_inputter=opennmt.inputters.WordEmbedder(embedding_size=UNITS),
            target_inputter=opennmt.inputters.WordEmbedder(embedding_size=UNITS),
            encoder=opennmt.encoders.RNNEncoder(
                1, UNITS, bidirectional=True, dropout=DROPOUT, cell_class=cell
            ),
            decoder=opennmt.decoders.AttentionalRNNDecoder(
                1,
                UNITS,
                bridge_class=lambda: opennmt.layers.DenseBridge(activation=tf.math.tanh),
                attention_mechanism_class=tfa.seq2seq.LuongAttention,
                cell_class=cell,
                dropout=DROPOUT,
            ),
        )


model = Recurrent

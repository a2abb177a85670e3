"""Bahdanau's attention under its own name."""

import keras

from kerasnmt.layers.additive_score import AdditiveScore
from kerasnmt.layers.attention import Attention


@keras.saving.register_keras_serializable("kerasnmt")
class BahdanauAttention(Attention):
    """Attention with the additive score, to be asked with the decoder state s_{t-1}.

        e_{t,i} = v^T tanh(W h_i + U s_{t-1} + b)
        alpha_t = softmax(e_t),    c_t = sum_i alpha_{t,i} h_i

    Source: Bahdanau, Cho and Bengio (2015), equations 5 and 6 and appendix A.1.2.

    Args:
        units: size of the score's hidden layer.
        coverage: `Coverage()`, or None for an attention that forgets where it looked.
        penalty: `DoublyStochastic()`, or None; see `Attention`.
    """

    def __init__(
        self,
        units: int,
        coverage: keras.layers.Layer | None = None,
        penalty: keras.layers.Layer | None = None,
        **kwargs,
    ) -> None:
        score = AdditiveScore(units, dtype=kwargs.get("dtype"), name="score")
        super().__init__(score, coverage=coverage, penalty=penalty, **kwargs)
        self.units = units

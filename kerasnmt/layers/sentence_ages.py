"""How long ago each sentence of a story was said."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable("kerasnmt")
class SentenceAges(keras.layers.Layer):
    """Counts the sentences of a story from its end, for the temporal encoding T(i).

    The last sentence before the question has age 0. In training, random noise: after each sentence
    there stands an empty memory with a given probability, which makes all before it older. So the
    temporal encodings do not learn places by heart that few stories have. An empty memory holds
    nothing.

    Source: Sukhbaatar, Szlam, Weston and Fergus (2015), "End-to-end memory networks", section 4.1,
    "temporal encoding" and "learning time invariance by injecting random noise".

    Args:
        max_sentences: number of ages; sentences that are older have the greatest.
        random_noise: probability of an empty memory after a sentence, in [0, 1); 0.1 in the paper.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(self, max_sentences: int, random_noise: float = 0.0, **kwargs) -> None:
        super().__init__(**kwargs)
        if max_sentences < 1:
            raise ValueError(f"Expected max_sentences >= 1. Received: {max_sentences=}")
        if not 0.0 <= random_noise < 1.0:
            raise ValueError(
                "Expected 0 <= random_noise < 1; a usual value is 0.1. "
                f"Received: random_noise={random_noise}"
            )
        self.max_sentences = max_sentences
        self.random_noise = random_noise
        if random_noise:
            self.seed_generator = keras.random.SeedGenerator()

    def call(self, sentence_mask: Any, training: bool = False) -> Any:
        """Count from the last real sentence.

        Args:
            sentence_mask: boolean `[batch, sentences]`, True = real sentence.
            training: whether there is noise.

        Returns:
            int32 `[batch, sentences]`, from 0 to `max_sentences - 1`; of no meaning where masked.
        """
        steps = ops.cast(sentence_mask, "int32")
        if training and self.random_noise:
            drawn = keras.random.uniform(ops.shape(sentence_mask), seed=self.seed_generator)
            steps = steps * ops.where(drawn < self.random_noise, 2, 1)
        ages = ops.flip(ops.cumsum(ops.flip(steps, axis=1), axis=1), axis=1) - 1
        return ops.clip(ages, 0, self.max_sentences - 1)

    def get_config(self) -> dict:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "max_sentences": self.max_sentences,
            "random_noise": self.random_noise,
        }

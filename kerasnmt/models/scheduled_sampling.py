"""Scheduled sampling, where the decoder reads its own predictions in training."""

from typing import Any

import keras
from keras import ops

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from kerasnmt.models.inner_optimizer import inner_optimizer


class ScheduledSampling:
    """Scheduled sampling: replaces some of the decoder's input words in training by predictions.

    Source: Bengio, Vinyals, Jaitly and Shazeer (2015), "Scheduled sampling for sequence prediction
    with recurrent neural networks"; Mihaylova and Martins (2019), "Scheduled sampling for
    Transformers", section 3, where the predictions come from a first pass over the given words.

    Args:
        probability: Probability that a word is replaced, in [0, 1), or a schedule that computes
            this probability from the number of optimizer updates.
        generator: `keras.random.SeedGenerator` of the model. Its state is a seed and the number of
            training batches so far.

    Raises:
        ValueError: If the probability is out of range.
    """

    def __init__(
        self,
        probability: float | keras.optimizers.schedules.LearningRateSchedule,
        generator: keras.random.SeedGenerator,
    ) -> None:
        self.is_scheduled = isinstance(probability, keras.optimizers.schedules.LearningRateSchedule)
        if not self.is_scheduled and not 0.0 <= probability < 1.0:
            raise ValueError(
                "Expected 0 <= scheduled_sampling < 1, or a schedule of "
                "keras.optimizers.schedules, which gets the number of optimizer updates. "
                f"Received: scheduled_sampling={probability}"
            )
        self.probability = probability
        self.generator = generator

    @property
    def is_on(self) -> bool:
        """Whether any word can be replaced."""
        return self.is_scheduled or self.probability > 0.0

    def start(self) -> None:
        """Draw a seed, and count batches from 0."""
        self.generator.state.assign(keras.random.SeedGenerator().state)

    def resume(self, optimizer: keras.optimizers.Optimizer) -> None:
        """Raise the count of batches to the batches of an optimizer's updates, if it is lower.

        It can be higher, because it includes batches since the last update, and batches whose
        update was skipped in float16 because a gradient was not finite.
        """
        seed, trained_on = ops.convert_to_numpy(self.generator.state)
        batches = int(optimizer.iterations) * _batches_per_update(optimizer)
        if trained_on < batches:
            self.generator.state.assign([seed, batches])

    def mixed(
        self,
        target_ids: Any,
        predicted_ids: Any,
        vocabulary_size: int,
        optimizer: keras.optimizers.Optimizer,
    ) -> Any:
        """Replace words drawn at random; see `mixed_inputs`.

        Args:
            target_ids: Given inputs of the decoder, int32 `[batch, target_length]`.
            predicted_ids: Predictions of the decoder for these inputs, of the same shape.
            vocabulary_size: Number of ids that the decoder embeds.
            optimizer: Optimizer of the model. A schedule depends on the number of its updates.

        Returns:
            Int32 `[batch, target_length]`.
        """
        probability: Any = self.probability
        if self.is_scheduled:
            batches = ops.cast(self.generator.state[1], "int32")
            probability = probability(batches // _batches_per_update(optimizer))
        uniform = keras.random.uniform(ops.shape(target_ids), seed=self.generator)
        return mixed_inputs(target_ids, predicted_ids, uniform < probability, vocabulary_size)


def mixed_inputs(target_ids: Any, predicted_ids: Any, drawn: Any, vocabulary_size: int) -> Any:
    """Replace given words by predictions, as in a search.

    The start token and padding stay. A word stays too if its prediction is padding, start or end,
    because a search does not continue after these tokens. A prediction outside the vocabulary,
    which is a copied word, becomes the unknown word.

    Args:
        target_ids: Given inputs, int32 `[batch, target_length]`, starting with the start token.
        predicted_ids: Predictions of the decoder for these inputs, int32 `[batch, target_length]`.
            The prediction at t replaces the input at t + 1.
        drawn: Words to replace, boolean `[batch, target_length]`.
        vocabulary_size: Number of ids that the decoder embeds.

    Returns:
        Int32 `[batch, target_length]`.
    """
    known = ops.where(predicted_ids < vocabulary_size, predicted_ids, UNKNOWN_ID)
    before = ops.concatenate([target_ids[:, :1], known[:, :-1]], axis=1)
    word = ops.logical_and(target_ids != PAD_ID, target_ids != START_ID)
    predicted_word = ops.logical_or(before == UNKNOWN_ID, before > END_ID)
    replaced = ops.logical_and(drawn, ops.logical_and(word, predicted_word))
    return ops.where(replaced, before, target_ids)


def _batches_per_update(optimizer: keras.optimizers.Optimizer) -> int:
    return inner_optimizer(optimizer).gradient_accumulation_steps or 1

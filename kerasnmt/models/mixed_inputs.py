"""The decoder's inputs in scheduled sampling."""

from typing import Any

from keras import ops

from kerasnmt.ids import END_ID, PAD_ID, START_ID, UNKNOWN_ID


def mixed_inputs(target_ids: Any, predicted_ids: Any, drawn: Any, vocabulary_size: int) -> Any:
    """Put predictions in the place of given words, as search would feed them.

    The start token and padding stay. So does a word in whose place padding, start or end was
    predicted, after which search does not go on. A prediction outside the vocabulary, a copied
    word, becomes the unknown word.

    Source: Bengio et al. (2015), "Scheduled sampling for sequence prediction with recurrent neural
    networks"; Mihaylova and Martins (2019), "Scheduled sampling for Transformers", section 3, whose
    predictions come from a first pass over the given words.

    Args:
        target_ids: the given inputs, int32 `[batch, target_length]`, starting with the start token.
        predicted_ids: what the decoder answered to them, int32 `[batch, target_length]`: at t the
            prediction of the input at t + 1.
        drawn: where predictions are wanted, boolean `[batch, target_length]`.
        vocabulary_size: number of ids that the decoder embeds.

    Returns:
        int32 `[batch, target_length]`.
    """
    known = ops.where(predicted_ids < vocabulary_size, predicted_ids, UNKNOWN_ID)
    before = ops.concatenate([target_ids[:, :1], known[:, :-1]], axis=1)
    word = ops.logical_and(target_ids != PAD_ID, target_ids != START_ID)
    predicted_word = ops.logical_or(before == UNKNOWN_ID, before > END_ID)
    replaced = ops.logical_and(drawn, ops.logical_and(word, predicted_word))
    return ops.where(replaced, before, target_ids)

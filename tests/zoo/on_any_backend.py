"""What models of the zoo compute on any backend of Keras."""

import keras
import numpy as np

from tests.zoo.tiny_models import OPTIONS, TARGETS, example, log_probabilities, make

ALIGNMENTS = np.eye(5, dtype="float32")[None, [4, 0, 2, 1]] * (TARGETS != 0)[..., None]
TRAINED = [
    "cgru gaussian",
    "luong_local_p_lstm feeding coverage",
    "pointer_generator_lstm coverage",
]
SEARCHED = [
    "concat_gru chunkwise",
    "hard_monotonic_lstm first order",
    "history_attention_gru coverage",
    "luong_local_p_lstm feeding coverage",
    "show_attend_tell_lstm",
]


def outputs(case):
    """Return the results of a forward pass of `OPTIONS`."""
    name, options = OPTIONS[case]
    model = make(name, **options)
    inputs, _ = example(model)
    found = {"log_probabilities": log_probabilities(model, model(inputs))}
    return {**found, **model.attend(inputs)} if model.has_attention else found


def search_and_training(case):
    """Return the results of a search, and the losses of two epochs."""
    name, options = OPTIONS[case]
    model = make(name, **options)
    inputs, targets = example(model)
    found = {}
    if case in SEARCHED:
        hypotheses = model.search(inputs, beam_size=3, n_best=2, max_length=6)
        found |= {"ids": hypotheses.ids, "scores": hypotheses.scores}
    if case in TRAINED:  # an added loss, and the loss of guided attention beside it
        eagerly = keras.backend.backend() == "tensorflow"
        model.compile("sgd", label_smoothing=0.1, guided_attention=0.5, run_eagerly=eagerly)
        guided = {**inputs, "alignments": ALIGNMENTS}
        found["losses"] = model.fit(guided, targets, epochs=2, verbose=0).history["loss"]
    return found

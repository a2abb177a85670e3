"""Tiny memory networks, and what they compute on any backend of Keras."""

import keras
import numpy as np

from kerasnmt import zoo
from tests.numerics import fill

STORIES = np.array(
    [
        [[5, 6, 7, 8], [9, 5, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]],
        [[8, 8, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        [[6, 4, 9, 5], [7, 5, 4, 0], [5, 5, 5, 6], [9, 8, 0, 0]],
    ],
    "int32",
)
INPUTS = {
    "story_ids": STORIES,
    "question_ids": np.array([[5, 8, 0], [6, 0, 0], [4, 9, 7]], "int32"),
}
TARGETS = np.array([4, 9, 6], "int32")
OPTIONS = {
    "adjacent": {},
    "adjacent, answers apart": {"target": 8},
    "layerwise": {"tying": "layerwise"},
    "bag of words, no time": {"encoding": "bag_of_words", "temporal_encoding": False, "hops": 1},
}


def make(source=10, linear=False, seed=0, **options):
    model = zoo.memory_network(source, **{"embedding_dim": 6, "max_sentences": 7, **options})
    fill(model, seed, scale=0.7).hop.linear.assign(float(linear))
    return model


def outputs(case, linear):
    """Return outputs of `OPTIONS` without noise, whose random numbers differ."""
    model = make(random_noise=0.0, linear=linear, **OPTIONS[case])
    ids, scores = model.answer_ids(INPUTS)
    return {"logits": model(INPUTS), "weights": model.attend(INPUTS), "ids": ids, "scores": scores}


def training():
    """Return losses of a training whose softmax is switched on after the first epoch."""
    model = make(random_noise=0.0, linear=True)
    model.compile(keras.optimizers.SGD(0.1))
    switch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: model.hop.linear.assign(0.0)
    )
    targets = np.minimum(TARGETS, 7)
    history = model.fit(INPUTS, targets, epochs=3, callbacks=[switch], verbose=0)
    return {"losses": history.history["loss"]}

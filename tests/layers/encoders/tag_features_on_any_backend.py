"""What tags as features give on any backend of Keras."""

import numpy as np

from kerasnmt.layers import TagFeatures

IDS = np.array([[4, 5, 9, 10, 3, 0, 0], [4, 9, 6, 10, 11, 7, 3]], "int32")


def results():
    words = np.random.default_rng(1).normal(size=(2, 7, 4)).astype("float32")
    found = {}
    for merge in ("concat", "sum"):
        layer = TagFeatures([4, 5, 6, 7], merge, [8])
        found[merge] = layer(words, IDS)
    return {**found, "positions": layer.positions(IDS)}

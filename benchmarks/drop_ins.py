"""Gain of each drop-in of `kerasnmt.speed`.

    python benchmarks/drop_ins.py

A training step (see `floor.py`) or a search for 64 sentences runs with all drop-ins, and with the
plain operation in place of one, in turns in this process, `--rounds` times. `gain` is the median
over the rounds of the CPU seconds with the plain operation, divided by those with the drop-in.
Prints one JSON line per drop-in.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from unittest.mock import patch

import keras
import numpy as np
import tensorflow as tf
from floor import RECURRENT, SOURCE, VOCABULARY, spent, step_of

from kerasnmt.decoding import beam_search, buffers
from kerasnmt.layers import BahdanauDecoderCell, dropout, normalization
from kerasnmt.layers.decoders import generators
from kerasnmt.speed.adam import FusedAdam
from kerasnmt.speed.gather import plain_take_rows
from kerasnmt.speed.layer_normalization import layer_normalization
from kerasnmt.speed.log_probability import token_log_probability
from kerasnmt.speed.top_k import plain_top_sums
from kerasnmt.zoo import get_model


def search_of(name: str, options: dict) -> Callable[[], tf.Tensor]:
    """Return a search with a beam of 5 and 15 steps, traced for batches of any size."""
    model = get_model(name)(VOCABULARY, **options)
    ids = tf.constant(np.random.default_rng(1).integers(4, VOCABULARY, (64, SOURCE)), tf.int32)
    search = tf.function(lambda ids: model.search(ids, beam_size=5, max_length=15).ids)
    return lambda: search(ids)


def plain_log_probability(features, kernel, bias, ids):
    return token_log_probability(keras.ops.matmul(features, kernel) + bias, ids)


def plain_layer_normalization(epsilon, custom_gradient, *tensors):
    return layer_normalization(epsilon, False, *tensors)


# What runs, and the place of the drop-in with the plain operation.
GRU, TRANSFORMER = ("bahdanau_gru", RECURRENT), ("transformer_tiny", {})
CASES = {
    "after_loop": (step_of, GRU, (BahdanauDecoderCell, "value_names", ())),
    "log_probability": (
        step_of,
        GRU,
        (generators, "projected_log_probability", plain_log_probability),
    ),
    "adam": (step_of, GRU, (FusedAdam, "update_step", keras.optimizers.Adam.update_step)),
    "byte_dropout": (step_of, TRANSFORMER, (dropout, "byte_dropout", keras.random.dropout)),
    "layer_normalization": (
        step_of,
        TRANSFORMER,
        (normalization, "layer_normalization", plain_layer_normalization),
    ),
    "gather": (search_of, GRU, (buffers, "gather", keras.ops.take)),
    "take_rows": (search_of, GRU, (buffers, "take_rows", plain_take_rows)),
    "top_k": (search_of, GRU, (beam_search, "top_sums", plain_top_sums)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    for name in arguments.names:
        make, model, place = CASES[name]
        drop_in, plain = make(*model), make(*model)
        spent(drop_in, 2)
        with patch.object(*place):
            spent(plain, 2)  # traces it
        gains = []
        for _ in range(arguments.rounds):
            seconds, _ = spent(drop_in, 3)
            gains.append(spent(plain, 3)[0] / seconds)
        low, gain, high = (round(part, 3) for part in statistics.quantiles(gains, n=4))
        print(json.dumps({"drop_in": name, "gain": gain, "quartiles": [low, high]}), flush=True)


if __name__ == "__main__":
    main()

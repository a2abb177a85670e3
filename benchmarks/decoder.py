"""Training speed of decoders without the output layer, as one JSON line.

    python benchmarks/decoder.py luong_general_lstm luong_general_lstm:input_feeding=true

The decoder of each model reads states and memories of 64 sources of 18 tokens, and 64 targets of 18
tokens. The embeddings and the units have the size 256. A pass computes the features of all
positions, and the gradients of all weights and of the memory. The models take turns, `--rounds`
times. The results are the medians over the rounds of the CPU seconds of all threads for one pass,
and of the target positions per CPU second.
"""

import argparse
import json
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
import yaml

from kerasnmt.layers import RecurrentDecoder
from kerasnmt.zoo import get_model

BATCH, LENGTH, UNITS = 64, 18, 256


class Features(keras.layers.Layer):
    """Layer that replaces a generator and returns the features."""

    def build(self, features_shape, embeddings_shape):
        pass

    def call(self, features, embeddings, targets=None):
        return features


def pass_of(specification: str):
    """Return a compiled function that makes one forward and backward pass."""
    name, _, options = specification.partition(":")
    options = dict(option.split("=") for option in options.split(",")) if options else {}
    options = {key: yaml.safe_load(value) for key, value in options.items()}
    model = get_model(name)(8000, embedding_dim=UNITS, units=UNITS, **options)
    parts = model.decoder
    decoder = RecurrentDecoder(parts.embedding, parts.cell, parts.readout, Features(), 0.2)
    decoder.build((None, None, model.encoder.memory_units))
    rng = np.random.default_rng(1)
    ids = tf.constant(rng.integers(4, 8000, size=(BATCH, LENGTH)), tf.int32)
    memory = tf.constant(rng.normal(size=(BATCH, LENGTH, model.encoder.memory_units)), tf.float32)
    mask = tf.ones((BATCH, LENGTH), tf.bool)
    first = [tf.zeros((BATCH, size)) for size in decoder.cell.cell.state_size]

    @tf.function
    def run():
        with tf.GradientTape() as tape:
            tape.watch(memory)
            projected = decoder.project_memory(memory, mask)
            states = decoder.initial_state(first, projected)
            features, _ = decoder(ids, states, projected, training=True)
            loss = tf.reduce_sum(features)
        weights = [weight.value for weight in decoder.trainable_weights]
        return [tf.reduce_sum(g) for g in tape.gradient(loss, [memory, *weights]) if g is not None]

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("models", nargs="+", help="NAME or NAME:option=value,…")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--passes", type=int, default=20, help="number of passes of a model in a round"
    )
    arguments = parser.parse_args()
    runs = {specification: pass_of(specification) for specification in arguments.models}
    seconds = {specification: [] for specification in runs}
    for run in runs.values():
        run()
    for _ in range(arguments.rounds):
        for specification, run in runs.items():
            begin = time.process_time()
            for _ in range(arguments.passes):
                run()
            seconds[specification].append((time.process_time() - begin) / arguments.passes)
    found = {}
    for specification, spent in seconds.items():
        median = statistics.median(spent)
        found[specification] = {
            "cpu_seconds": round(median, 4),
            "target_tokens_per_cpu_second": round(BATCH * LENGTH / median),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""Gain of each drop-in of `kerasnmt.speed`.

    python benchmarks/drop_ins.py

A training step (see `floor.py`) or a search with a beam of 5 and 15 steps runs with all drop-ins,
and with the plain operation in place of one, in turns in this process, `--rounds` times. `gain` is
the median over the rounds of the CPU seconds with the plain operation, divided by those with the
drop-in. Prints one JSON line per drop-in.
"""

import argparse
import json
import statistics
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from floor import RECURRENT, SOURCE, VOCABULARY, spent, step_of

from kerasnmt.speed import plain_operations
from kerasnmt.zoo import get_model


def search_of(name: str, options: dict) -> Callable[[], tf.Tensor]:
    """Return a search for 64 sentences, traced for batches of any size."""
    model = get_model(name)(VOCABULARY, **options)
    ids = tf.constant(np.random.default_rng(1).integers(4, VOCABULARY, (64, SOURCE)), tf.int32)
    search = tf.function(
        lambda ids: model.search(ids, beam_size=5, max_length=15).ids,
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
        autograph=False,
    )
    return lambda: search(ids)


CASES = {
    "after_loop": (step_of, "bahdanau_gru", RECURRENT),
    "log_probability": (step_of, "bahdanau_gru", RECURRENT),
    "adam": (step_of, "bahdanau_gru", RECURRENT),
    "byte_dropout": (step_of, "transformer_tiny", {}),
    "layer_normalization": (step_of, "transformer_tiny", {}),
    "top_k": (search_of, "bahdanau_gru", RECURRENT),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    for name in arguments.names:
        make, *case = CASES[name]
        drop_in, plain = make(*case), make(*case)
        spent(drop_in, 2)
        with plain_operations(name):
            spent(plain, 2)
        gains = []
        for _ in range(arguments.rounds):
            seconds = spent(drop_in, 3)[0]
            gains.append(spent(plain, 3)[0] / seconds)
        low, gain, high = (round(part, 3) for part in statistics.quantiles(gains, n=4))
        print(json.dumps({"drop_in": name, "gain": gain, "quartiles": [low, high]}), flush=True)


if __name__ == "__main__":
    main()

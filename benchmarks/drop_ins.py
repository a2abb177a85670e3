"""Gain of each drop-in of `kerasnmt.speed`.

    python benchmarks/drop_ins.py

The benchmark compares training steps (see `floor.py`) and searches with a beam of 5 and 15 steps.
They run with all drop-ins, and with a plain operation in place of one, in turns in this process,
`--rounds` times. `gain` is the median over the rounds of the CPU seconds with the plain operation,
divided by those with the drop-in; `quartiles` shows the spread. Prints one JSON line per drop-in.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import tensorflow as tf
from floor import RECURRENT, SOURCE, VOCABULARY, spent, step_of

from kerasnmt.speed import plain_operations
from kerasnmt.zoo import get_model


def search_of(name: str, options: dict, rows: int) -> Callable[[], tf.Tensor]:
    """Return a search, traced for batches of any size."""
    model = get_model(name)(VOCABULARY, **options)
    ids = tf.constant(np.random.default_rng(1).integers(4, VOCABULARY, (rows, SOURCE)), tf.int32)
    search = tf.function(
        lambda ids: model.search(ids, beam_size=5, max_length=15).ids,
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
        autograph=False,
    )
    return lambda: search(ids)


STEP_OF_GRU = "step of bahdanau_gru", 3, lambda: step_of("bahdanau_gru", RECURRENT)
STEP_OF_TRANSFORMER = "step of transformer_tiny", 3, lambda: step_of("transformer_tiny", {})
ONE_SENTENCE = "one sentence", 50, lambda: search_of("bahdanau_gru", RECURRENT, 1)
BATCH = "64 sentences", 1, lambda: search_of("bahdanau_gru", RECURRENT, 64)
# What each drop-in is for.
CASES = {
    STEP_OF_GRU: (
        "gradients_after_loop in_loop",
        "projected_log_probability",
        "FusedAdam.update_step",
    ),
    STEP_OF_TRANSFORMER: ("byte_dropout", "layer_normalization", "FusedAdam.update_step"),
    ONE_SENTENCE: ("products",),
    BATCH: ("top_sums", "pick"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("drop_ins", nargs="*", help="names of drop-ins, by default all")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    for (case, times, make), all_names in CASES.items():
        drop_ins = [n for n in all_names if not arguments.drop_ins or n in arguments.drop_ins]
        if not drop_ins:
            continue
        runs = {}
        for names in (None, *drop_ins):
            with plain_operations(*names.split()) if names else nullcontext():
                runs[names] = make()
                spent(runs[names], 2)
        seconds = {names: [] for names in runs}
        for _ in range(arguments.rounds):
            for names, run in runs.items():
                seconds[names].append(spent(run, times)[0])
        for names in drop_ins:
            gains = [p / d for p, d in zip(seconds[names], seconds[None], strict=True)]
            quartiles = [round(quartile, 3) for quartile in statistics.quantiles(gains, n=4)]
            found = {"drop_in": names, "case": case, "gain": quartiles[1], "quartiles": quartiles}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()

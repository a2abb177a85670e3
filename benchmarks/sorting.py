"""Sorting of numbers with a pointer network.

    python benchmarks/sorting.py

Trains `pointer_network_lstm`, with coverage but without its loss, on different lists of 5 to 10
numbers below 1,000. Each number is a word. The target is the sorted list. Prints a JSON line with
the share of new lists that greedy search sorts without an error.
"""

import argparse
import json
import os
import random
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras

from kerasnmt.data import batches
from kerasnmt.text import WordTokenizer
from kerasnmt.zoo import pointer_network_lstm

NUMBERS, SHORTEST, LONGEST, TEST = 1000, 5, 10, 1000
UNITS, BATCH, LEARNING_RATE = 64, 64, 0.007


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--lists", type=int, default=570_000)
    arguments = parser.parse_args()

    chance = random.Random(1)
    lists = {}  # a dict, which keeps the order and has no duplicates
    while len(lists) < arguments.lists + TEST:
        numbers = chance.choices(range(NUMBERS), k=chance.randint(SHORTEST, LONGEST))
        lists[" ".join(map(str, numbers))] = " ".join(map(str, sorted(numbers)))
    pairs = list(lists.items())
    train, test = pairs[TEST:], pairs[:TEST]

    keras.utils.set_random_seed(1)
    tokenizer = WordTokenizer([str(number) for number in range(NUMBERS)])
    model = pointer_network_lstm(
        tokenizer, units=UNITS, embedding_dim=UNITS, coverage=0.0, dropout=0.0
    )
    data = batches(train, tokenizer, batch_size=BATCH, seed=1, extended_vocabulary=True)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0,
        len(train) // BATCH,
        alpha=0.01,
        warmup_target=LEARNING_RATE,
        warmup_steps=200,
    )
    model.compile(keras.optimizers.Adam(schedule, global_clipnorm=0.5), label_smoothing=0.0)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(data, epochs=1, verbose=0, shuffle=False)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu

    sources, targets = zip(*test, strict=True)
    answers = model.translate(sources, beam_size=1, max_length=LONGEST + 1)
    print(
        json.dumps(
            {
                "model": model.name,
                "parameters": model.count_params(),
                "lists": len(train),
                "sorted": sum(map(str.__eq__, answers, targets)) / TEST,
                "train_seconds": wall,
                "train_cpu_seconds": cpu,
            }
        )
    )


if __name__ == "__main__":
    main()

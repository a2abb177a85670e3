"""Time and memory of training on shards, as one JSON line per part.

    python benchmarks/shards.py
    python benchmarks/shards.py --pairs 1_000_000 --model bahdanau_gru

Writes `--pairs` pairs to `--shards` files `.tsv.gz` in a temporary folder, in a child process. They
are pairs of the built-in corpus with invented words in front, so that they differ. They do
the work of `kerasnmt train` with a pattern: check all lines, train a tokenizer on a sample, read an
epoch in batches of 64 pairs, and make training steps of `--model` on its last batches. Each line
has the wall seconds, the CPU seconds of all threads, the resident memory at the end of the part,
and the peak memory so far, in MB. The memory is also printed after each tenth of the epoch. The
last line compares the CPU seconds of a batch and of a step.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # like `kerasnmt train`

import numpy as np

from kerasnmt.data import Shards, batches, builtin_corpus
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.training import Adam
from kerasnmt.zoo import get_model

KINDS = 20_000
BATCH = 64


def write_shards(folder: str, pairs: int, shards: int) -> None:
    """Write shards of equal sizes, quickly: sentences are joined, not generated."""
    kinds = [(pair.source, pair.target) for pair in builtin_corpus(KINDS)]
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
    words = ["".join(word) + " " for word in product(syllables, repeat=3)]
    draw = np.random.default_rng(1)
    for number in range(shards):
        size = pairs // shards
        chosen = draw.integers(len(words), size=(size, 9)).tolist()
        counts = draw.integers(10, size=size).tolist()
        lines = []
        for place in range(size):
            source, target = kinds[(number * size + place) % KINDS]
            front = "".join([words[word] for word in chosen[place][: counts[place]]])
            lines.append(f"{front}{source}\t{front}{target}\n")
        with gzip.open(f"{folder}/part-{number:04}.tsv.gz", "wt", compresslevel=1) as file:
            file.write("".join(lines))


def memory() -> dict[str, int]:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "resident_mb": pages * resource.getpagesize() // 2**20,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


@contextmanager
def part(name: str, found: dict) -> Iterator[None]:
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    found["part"] = name
    found["seconds"] = round(time.perf_counter() - wall, 2)
    found["cpu_seconds"] = round(time.process_time() - cpu, 2)
    print(json.dumps({**found, **memory()}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=20_000_000)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--model", default="bahdanau_gru", help="name of a model")
    parser.add_argument("--units", type=int, default=256)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        # In a child process, so that its memory is not counted.
        context = multiprocessing.get_context("spawn")
        options = (folder, arguments.pairs, arguments.shards)
        writer = context.Process(target=write_shards, args=options)
        with part("imports and writing", {}):
            writer.start()
            writer.join()
        shards = Shards(f"{folder}/part-*.tsv.gz")
        megabytes = sum(Path(path).stat().st_size for (path,) in shards.files) // 2**20
        with part("check", {"pairs": arguments.pairs, "mb": megabytes}):
            assert len(shards) == arguments.pairs // arguments.shards * arguments.shards
        with part("tokenizer", {}):
            tokenizer = SentencePieceTokenizer.train(shards, 8000)
        found, kept = {"batches": 0, "pairs": 0, "target_tokens": 0}, []
        tenth = arguments.pairs // 10
        with part("epoch", found):
            for batch in batches(shards, tokenizer, batch_size=BATCH, seed=1):
                weight = batch[2].numpy()
                kept = [*kept[1 - arguments.steps :], batch]
                found["batches"] += 1
                found["pairs"] += len(weight)
                found["target_tokens"] += int(weight.sum())
                if found["pairs"] % tenth < BATCH:
                    print(json.dumps({"pairs": found["pairs"], **memory()}), flush=True)
        assert found["pairs"] == len(shards)  # no pair is too long
        per_batch = found["cpu_seconds"] / found["batches"]

        model = get_model(arguments.model)(tokenizer, units=arguments.units)
        model.compile(Adam(1e-3, global_clipnorm=1.0))
        for batch in kept:  # also traces the step
            model.train_on_batch(*batch)
        found = {"model": arguments.model, "units": arguments.units, "steps": len(kept)}
        with part("steps", found):
            for batch in kept:
                model.train_on_batch(*batch)
        per_step = found["cpu_seconds"] / len(kept)
        summary = {
            "batches_cpu_ms": round(1000 * per_batch, 2),
            "steps_cpu_ms": round(1000 * per_step, 2),
            "ratio": round(per_batch / per_step, 4),
        }
        print(json.dumps(summary))


if __name__ == "__main__":
    main()

"""Time and memory for a corpus of millions of pairs, as one JSON line per part.

    python benchmarks/streaming.py

Writes a corpus of `--pairs` pairs to a temporary folder. They are pairs of the built-in corpus with
invented words in front, so that they differ. The parts are: check and read the corpus, train a
tokenizer on a sample, read `--batches` batches with the default size and buffer and without a
cache, and make `--steps` training steps of `--model` on the last batches. Each line has the wall
seconds, the CPU seconds of all threads, the resident memory at the end of the part, and the peak
memory so far, in MB. The last line compares the time of the batches with the time of the steps.
"""

import argparse
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

import keras

from kerasnmt.data import batches, builtin_corpus, read_parallel
from kerasnmt.text import SentencePieceTokenizer
from kerasnmt.zoo import get_model

KINDS = 20_000


def write_corpus(paths: tuple[Path, Path], pairs: int) -> None:
    kinds = [(pair.source, pair.target) for pair in builtin_corpus(KINDS)]
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
    with open(paths[0], "w", encoding="utf-8") as sources, open(paths[1], "w") as targets:
        for number in range(pairs):
            source, target = kinds[number % KINDS]
            # Up to nine more words of two or three syllables, the same on both sides.
            words = []
            for factor in range(1, 1 + number % 10):
                rest, first = divmod(number * factor + factor, 70)
                third, second = divmod(rest, 70)
                words.append(syllables[first] + syllables[second] + syllables[third % 5])
            sources.write(" ".join([*words, source]) + "\n")
            targets.write(" ".join([*words, target]) + "\n")


@contextmanager
def part(name: str, found: dict) -> Iterator[None]:
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    found["part"] = name
    found["seconds"] = round(time.perf_counter() - wall, 2)
    found["cpu_seconds"] = round(time.process_time() - cpu, 2)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    found["resident_mb"] = pages * resource.getpagesize() // 2**20
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(found), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument(
        "--sample", type=int, default=250_000, help="number of sentences for the tokenizer"
    )
    parser.add_argument("--batches", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--model", default="bahdanau_gru", help="name of a model")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "train.en"), Path(folder, "train.de")
        # In a child process, so that its memory is not counted.
        context = multiprocessing.get_context("spawn")
        writer = context.Process(target=write_corpus, args=(paths, arguments.pairs))
        writer.start()
        writer.join()
        megabytes = sum(path.stat().st_size for path in paths) // 2**20
        with part("imports", {}):
            pass
        with part("read", {"pairs": arguments.pairs, "mb": megabytes}):
            pairs = read_parallel(*paths)
        with part("tokenizer", {"sample": arguments.sample}):
            tokenizer = SentencePieceTokenizer.train(pairs, 8000, sample=arguments.sample)
        found, kept, tokens = {}, [], 0
        with part("batches", found):
            for batch in batches(pairs, tokenizer, seed=1).take(arguments.batches):
                kept = [*kept[1 - arguments.steps :], batch]
                tokens += int(batch[2].numpy().sum())
                found["batches"] = found.get("batches", 0) + 1
            found["target_tokens"] = tokens
        pipeline = found["cpu_seconds"] / found["batches"]

        model = get_model(arguments.model)(tokenizer)
        model.compile(keras.optimizers.Adam(1e-3, global_clipnorm=1.0))
        model.train_on_batch(*kept[0])
        found = {"model": arguments.model, "steps": len(kept)}
        with part("steps", found):
            for batch in kept:
                model.train_on_batch(*batch)
        step = found["cpu_seconds"] / len(kept)
        summary = {
            "batches_cpu_seconds_per_1000": round(1000 * pipeline, 2),
            "steps_cpu_seconds_per_1000": round(1000 * step, 2),
            "share_of_batches": round(pipeline / (pipeline + step), 4),
        }
        print(json.dumps(summary))


if __name__ == "__main__":
    main()

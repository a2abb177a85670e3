"""Shared parts of the drivers: arguments, sizes, a clock, and the line of the answer.

This module uses only the standard library and sacreBLEU, because each driver has its own
environment.
"""

import argparse
import json
import os
import resource
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

# All models
DROPOUT = 0.2
LABEL_SMOOTHING = 0.1
CLIP_NORM = 1.0
BATCH_SIZE = 64
MAX_LENGTH = 60
LENGTH_PENALTY = 1.0
# Recurrent models
UNITS = 256
LEARNING_RATE = 1e-3
# Transformers, whose learning rate rises linearly, and then falls with the square root of the steps
LAYERS = 4
HEADS = 4
WIDTH = 128
HIDDEN_UNITS = 256
ATTENTION_DROPOUT = 0.1
MAX_LEARNING_RATE = 2e-3
WARMUP_STEPS = 1000

WARMUP_SENTENCES = 128


class Clock:
    """Clock of wall seconds and of CPU seconds of all threads, which can be stopped and resumed."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0
        self.resume()

    def resume(self) -> None:
        self._begin = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        begin, cpu_begin = self._begin
        self.seconds += time.perf_counter() - begin
        self.cpu_seconds += time.process_time() - cpu_begin


class Steps:
    """Count of steps and of their target tokens, whose clock starts after the warm-up."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.warmup, self.last = arguments.warmup, arguments.warmup + arguments.steps
        self.count = self.tokens = 0
        self.clock = Clock()

    @property
    def done(self) -> bool:
        return self.count == self.last

    def begin(self, tokens: int) -> None:
        """Count a step that begins."""
        if self.count == self.warmup:
            self.clock, self.tokens = Clock(), 0
        self.count += 1
        self.tokens += tokens

    def result(self) -> dict:
        """Stop the clock, and return the times."""
        self.clock.stop()
        return steps_result(self.clock, self.last - self.warmup, self.tokens)


class Curve:
    """Curve of BLEU of the validation data during training, in a file of JSON lines."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.path, self.cpu_minutes = arguments.run / "curve.jsonl", arguments.cpu_minutes
        self.references = arguments.data / "validation.target"
        self.points = []
        self.clock = Clock()

    @property
    def done(self) -> bool:
        return self.clock.cpu_seconds >= 60 * self.cpu_minutes

    def add(self, steps: int, translations: list[str]) -> None:
        point = {
            "steps": steps,
            "minutes": round(self.clock.seconds / 60, 3),
            "cpu_minutes": round(self.clock.cpu_seconds / 60, 3),
            "val_bleu": round(bleu(translations, self.references), 2),
        }
        self.points.append(json.dumps(point) + "\n")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(self.points))  # replaces an earlier curve


def arguments() -> argparse.Namespace:
    """Return the arguments of a driver, with `data` and `run`, the folders of texts and a run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("steps", "fit", "decode"))
    parser.add_argument("--system", required=True, help="key of SYSTEMS in compare.py")
    parser.add_argument(
        "--results", type=Path, required=True, help="folder of compare.py for the corpus"
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--cpu-minutes", type=float, default=30.0, help="CPU time of fit")
    parser.add_argument(
        "--validate-every",
        type=int,
        default=454,
        help="steps of fit between validations; an epoch of Multi30k has 454",
    )
    parser.add_argument("--beam-size", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=BATCH_SIZE, help="batch size of decode")
    parser.add_argument("--sentences", type=int, default=1000, help="number of sentences of decode")
    arguments = parser.parse_args()
    arguments.data = arguments.results / "data"
    run = f"{arguments.system}_steps" if arguments.mode == "steps" else arguments.system
    arguments.run = arguments.results / "runs" / run  # `steps` keeps the model of `fit`
    return arguments


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_texts(arguments: argparse.Namespace) -> list[str]:
    return lines(arguments.data / "test.source")[: arguments.sentences]


def warmup_texts(arguments: argparse.Namespace) -> list[str]:
    """Return texts to translate before the clock starts, because libraries compile each length."""
    count = max(4 * arguments.batch_size, WARMUP_SENTENCES)
    return lines(arguments.data / "validation.source")[:count]


def bleu(translations: list[str], references: Path) -> float:
    """Return BLEU, with the tab-separated references in each line of a file."""
    from sacrebleu.metrics import BLEU

    rows = [line.split("\t") for line in lines(references)[: len(translations)]]
    return BLEU(force=True).corpus_score(translations, [*zip_longest(*rows)]).score


def steps_result(clock: Clock, steps: int, target_tokens: float) -> dict:
    return {
        "steps": steps,
        "seconds": clock.seconds,
        "cpu_seconds_per_step": clock.cpu_seconds / steps,
        "target_tokens_per_second": target_tokens / clock.seconds,
        "target_tokens_per_cpu_second": target_tokens / clock.cpu_seconds,
    }


def decode(arguments: argparse.Namespace, translate: Callable[[list[str]], list[str]]) -> dict:
    """Return the times and BLEU of a search, after a warm-up.

    `translate` makes the batches. With a batch size of 1, it gets one text at a time.
    """
    texts = test_texts(arguments)
    translate(warmup_texts(arguments))
    translations, times = [], []
    clock = Clock()
    if arguments.batch_size == 1:
        for text in texts:
            begin = time.perf_counter()
            translations += translate([text])
            times.append(time.perf_counter() - begin)
    else:
        translations = translate(texts)
    clock.stop()
    return decode_result(clock, times, translations, arguments)


def decode_result(
    clock: Clock, times: list[float], translations: list[str], arguments: argparse.Namespace
) -> dict:
    return {
        "seconds": clock.seconds,
        "cpu_seconds": clock.cpu_seconds,
        "median_ms": sorted(times)[len(times) // 2] * 1e3 if times else None,
        "words": sum(len(text.split()) for text in translations),
        "bleu": bleu(translations, arguments.data / "test.target"),
    }


def main(
    train: Callable[[argparse.Namespace], dict], decode: Callable[[argparse.Namespace], dict]
) -> None:
    """Run a mode of a driver, `steps` and `fit` by `train`, and print its answer."""
    given = arguments()
    answer((decode if given.mode == "decode" else train)(given))


def answer(result: dict) -> None:
    """Print the line that compare.py reads."""
    result["peak_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in result.items()}
    print("RESULT " + json.dumps(rounded), flush=True)
    os._exit(0)  # some libraries hang at a normal exit
